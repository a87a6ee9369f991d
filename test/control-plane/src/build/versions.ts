import { readFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ControlPlaneError } from "../errors.ts";
import { isObject, objectAt, parseJson, requireString } from "../json.ts";

/** The Go module: the directory above both `src` and `dist`. */
export const moduleDir: string = fileURLToPath(new URL("../..", import.meta.url));

/** One entry of versions.json: everything that differs between two minors of Kubernetes. */
export interface KubernetesVersion {
  /** For example "1.36". */
  readonly minor: string;
  /** For example "1.36.3", without the v. */
  readonly kubernetes: string;
  /** For example "3.6.8", without the v. */
  readonly etcd: string;
  /** Name of the go.mod of this minor; its go.sum has the same name but for the suffix. */
  readonly modfile: string;
}

/** Selects the minor of every suite, program and command of this repository; a key of versions.json. */
export const minorVariable = "CLOUDWIRE_KUBERNETES_MINOR";

/** The version of a minor; without `minor` that of the environment variable, else the default of versions.json. */
export async function readVersion(minor?: string): Promise<KubernetesVersion> {
  const file = path.join(moduleDir, "versions.json");
  const wanted = minor ?? (process.env[minorVariable] || undefined);
  return parseVersion(parseJson(await readFile(file, "utf8"), file), wanted);
}

export function parseVersion(content: unknown, minor?: string): KubernetesVersion {
  const source = "versions.json";
  const minors = objectAt(content, "minors");
  const wanted = minor ?? requireString(content, "default", source);
  const entry = minors[wanted];
  if (!isObject(entry)) {
    const known = Object.keys(minors).join(", ");
    throw new ControlPlaneError("BAD_OPTIONS", `Kubernetes ${wanted} is not in ${source} (there: ${known}): add it`);
  }
  return {
    minor: wanted,
    kubernetes: requireString(entry, "kubernetes", source),
    etcd: requireString(entry, "etcd", source),
    modfile: requireString(entry, "modfile", source),
  };
}
