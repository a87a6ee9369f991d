/** A package.json as far as it matters here. */
export type Manifest = Readonly<Record<string, unknown>>;

/** What a published package says of where it comes from. */
export interface Origin {
  /** URL of the repository; undefined: unknown, without provenance. */
  readonly source?: string;
  /** The package's directory in it. */
  readonly directory: string;
  /** Of Node, as the top package.json has it. */
  readonly engines: unknown;
}

/** What has no meaning outside of this repository. */
const OWN_AFFAIRS = new Set(["private", "scripts", "devDependencies", "workspaces"]);

/** A manifest as it is published. Only this removes `private`, which prevents accidental publishing. */
export function publishedManifest(manifest: Manifest, { source, directory, engines }: Origin): Manifest {
  const kept = Object.entries(manifest).filter(([field]) => !OWN_AFFAIRS.has(field));
  return {
    ...Object.fromEntries(kept),
    ...(manifest["exports"] === undefined ? {} : { exports: withoutSources(manifest["exports"]) }),
    engines,
    ...(source === undefined ? {} : { repository: { type: "git", url: source, directory } }),
    publishConfig: { access: "public", ...(source === undefined ? {} : { provenance: true }) },
  };
}

/** The condition `development` names sources, which are not in the package. */
function withoutSources(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([condition]) => condition !== "development");
  return Object.fromEntries(kept.map(([condition, target]) => [condition, withoutSources(target)]));
}
