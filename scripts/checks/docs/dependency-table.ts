/** Where the packages are explained. */
export const DEPENDENCY_PAGE = "docs/decisions/dependencies.md";

type Names = Readonly<Record<string, unknown>>;

export interface Manifest {
  readonly dependencies?: Names;
  readonly devDependencies?: Names;
  readonly optionalDependencies?: Names;
}

/** What a go.mod asks for itself, which is what it does not call indirect; modules of this repository are no dependencies. */
export function goManifest(text: string): Manifest {
  const requires = text
    .split("\n")
    .map((line) => /^(?:require )?\s*(?<name>[a-z0-9.-]+\.[a-z]+\/\S+) v\S+$/.exec(line)?.groups?.["name"])
    .filter((name) => name !== undefined && !name.startsWith("cloudwire.dev/"));
  return { dependencies: Object.fromEntries(requires.map((name) => [name, ""])) };
}

/**
 * Compares the packages that the workspaces name with the first column of the page's tables, both ways; one sentence a difference.
 * Packages of this repository are no dependencies.
 * @param manifests path of a package.json, or of a go.mod, to what is in it
 */
export function dependencyFaults(manifests: ReadonlyMap<string, Manifest>, page: string): readonly string[] {
  const explained = new Set(
    page.split("\n").flatMap((line) => {
      const [, first = ""] = /^\|([^|]*)\|/.exec(line) ?? [];
      return [...first.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    }),
  );
  const used = new Map<string, string>();
  for (const [path, { dependencies, devDependencies, optionalDependencies }] of manifests) {
    for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
      if (!name.startsWith("@cloudwire/")) used.set(name, path);
    }
  }
  return [
    ...[...used]
      .filter(([name]) => !explained.has(name))
      .map(([name, path]) => `${path} uses ${name}, which has no row in ${DEPENDENCY_PAGE}`),
    ...[...explained]
      .filter((name) => !used.has(name))
      .map((name) => `${DEPENDENCY_PAGE} has a row for ${name}, which nothing uses`),
  ];
}
