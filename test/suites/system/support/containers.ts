import { execFile } from "node:child_process";
import { chownSync, copyFileSync, existsSync, mkdtempSync } from "node:fs";
import { chown, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { at } from "../../../support/kube.ts";
import type { OwnProgram } from "../../../support/bundles.ts";
import type { ProgramOptions } from "../../../support/program.ts";

/** Of the programs in images. */
export const NON_ROOT = 65_532;

/** The chart's pod, container by container, for podman. */
export interface PodContainers {
  /** Where podman has its images and settings. */
  readonly env: Readonly<Record<string, string>>;
  /** The arguments of `podman run` for each, its image at the end. */
  readonly options: Readonly<Record<OwnProgram, readonly string[]>>;
}

const VARIABLE = "CLOUDWIRE_TEST_POD";
/** Directories that containers see under the same paths: `shareWithContainers` puts them in. */
const shared = new Set<string>();
let started = 0;

/** For the processes of tests that are started after this. */
export function runInPod(pod: PodContainers): void {
  process.env[VARIABLE] = JSON.stringify(pod);
}

/** undefined: programs are processes of this machine. */
export function readPod(): PodContainers | undefined {
  const text = process.env[VARIABLE];
  return text === undefined ? undefined : JSON.parse(text);
}

/** What a container's settings in the pod are to podman. */
export function runOptions(container: unknown): readonly string[] {
  const of = (...keys: readonly (string | number)[]): unknown => at(container, "securityContext", ...keys);
  return [
    "--network=host",
    `--user=${String(of("runAsUser"))}:${String(of("runAsGroup"))}`,
    ...(of("readOnlyRootFilesystem") === true ? ["--read-only", "--read-only-tmpfs=false"] : []),
    ...(of("allowPrivilegeEscalation") === false ? ["--security-opt=no-new-privileges"] : []),
    ...(at(of("capabilities"), "drop", 0) === "ALL" ? ["--cap-drop=all"] : []),
    `--memory=${String(at(container, "resources", "limits", "memory")).replace("Mi", "m")}`,
    String(at(container, "image")),
  ];
}

interface Run {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program as its container in the pod, in the foreground. */
export function containerProgram(pod: PodContainers, name: OwnProgram, { args, env }: Run): ProgramOptions {
  started += 1;
  const container = `${name}-${process.pid}-${started}`;
  const variables = Object.entries(env).map(([key, value]) => `--env=${key}=${value}`);
  const volumes = [...shared]
    .filter((directory) => existsSync(directory))
    .map((directory) => `--volume=${directory}:${directory}`);
  const before = ["run", "--rm", `--name=${container}`, ...volumes, ...variables];
  return {
    command: "podman",
    args: [...before, ...pod.options[name], ...args],
    env: pod.env,
    // A client that is killed leaves its container behind.
    signal: (signal) => {
      execFile("podman", ["kill", `--signal=${signal}`, container], { env: { ...process.env, ...pod.env } }, () => {});
    },
  };
}

/** Gives a directory, or a socket in one that is given already, to containers that are started after this; processes have it anyway. */
export async function shareWithContainers(path: string): Promise<void> {
  if (readPod() === undefined) return;
  await chown(path, NON_ROOT, NON_ROOT);
  if ((await stat(path)).isDirectory()) shared.add(path);
}

/** A copy of a file that the container may read; its path. */
export function lend(path: string, directory: string): string {
  const own = mkdtempSync(join(directory, "lent-"));
  const copy = join(own, basename(path));
  copyFileSync(path, copy);
  for (const lent of [own, copy]) chownSync(lent, NON_ROOT, NON_ROOT);
  return copy;
}
