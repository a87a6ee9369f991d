import manifest from "../package.json" with { type: "json" };

/** Version of this program: package.json is its one place. */
export function readVersion(): string {
  return manifest.version;
}
