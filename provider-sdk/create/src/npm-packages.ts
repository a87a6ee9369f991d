import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** An npm package of a checkout. */
export interface NpmPackage {
  readonly name: string;
  /** Below the checkout. */
  readonly directory: string;
  readonly manifest: Manifest;
}

interface Manifest {
  readonly name: string;
  readonly workspaces: readonly string[];
  readonly files: readonly string[];
  readonly dependencies: readonly string[];
}

/** Packages of a checkout with those of its other packages that they need to run. */
export async function packagesNeeded(checkout: string, names: readonly string[]): Promise<readonly NpmPackage[]> {
  const { workspaces } = await readManifest(checkout);
  const all = new Map<string, NpmPackage>();
  for (const directory of await directoriesOf(checkout, workspaces)) {
    const manifest = await readManifest(join(checkout, directory));
    all.set(manifest.name, { name: manifest.name, directory, manifest });
  }
  const needed = new Set<NpmPackage>();
  const visit = (name: string): void => {
    const found = all.get(name);
    if (found === undefined || needed.has(found)) return;
    needed.add(found);
    found.manifest.dependencies.forEach(visit);
  };
  names.forEach(visit);
  return [...needed];
}

/** Workspaces may be patterns, such as providers/*: a package is each directory of them that has a package.json. */
async function directoriesOf(checkout: string, workspaces: readonly string[]): Promise<readonly string[]> {
  const directories: string[] = [];
  const manifests = workspaces.map((pattern) => `${pattern}/package.json`);
  for await (const path of glob(manifests, { cwd: checkout })) directories.push(dirname(path));
  return directories;
}

async function readManifest(directory: string): Promise<Manifest> {
  const value: unknown = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  if (typeof value !== "object" || value === null) throw new TypeError(`${directory}/package.json is no object`);
  const property = (key: string): unknown => Reflect.get(value, key);
  const dependencies = property("dependencies");
  return {
    name: String(property("name")),
    workspaces: strings(property("workspaces")),
    files: strings(property("files")),
    dependencies: typeof dependencies === "object" && dependencies !== null ? Object.keys(dependencies) : [],
  };
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
