import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { DeleteLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { UsageError, errorText } from "../errors.ts";
import { type HookEntry, type CreatedResource, clusterPrefix } from "./created-resources.ts";
import { hookNames } from "./hooks.ts";

/**
 * The list of what a run may have made, in a file that outlives a crash: a JSON object a line, on the disk before the call that makes it leaves. There is
 * no file while there is nothing to list.
 */
export class CreatedResourcesFile {
  readonly path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Adds an entry; returns once it is on the disk. */
  readonly add = (entry: CreatedResource): void => {
    this.#file ??= this.#open();
    writeSync(this.#file, `${JSON.stringify(toJson(entry))}\n`);
    fsyncSync(this.#file);
  };

  /** Whether it has an entry yet. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** Ends the list: deletes it if nothing of it is left in the cloud. */
  close(isClean: boolean): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (isClean) rmSync(this.path);
  }

  #open(): number {
    mkdirSync(dirname(this.path), { recursive: true });
    const file = openSync(this.path, "ax");
    // Else the file's name could be lost with the machine, though its content is safe.
    const directory = openSync(dirname(this.path), "r");
    fsyncSync(directory);
    closeSync(directory);
    return file;
  }
}

/** The entries of a list; undefined: there is no such file. Throws a UsageError for any other file. */
export const readCreatedResources = (path: string): readonly CreatedResource[] | undefined => {
  const text = textOf(path);
  if (text === undefined) return undefined;
  // What stands behind the last line end was cut off by a crash, before its call.
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      try {
        return fromJson(JSON.parse(line));
      } catch (error) {
        throw new UsageError(`${path} is no list of what a run has made: line ${index + 1}: ${errorText(error)}`);
      }
    });
};

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new UsageError(`${path} cannot be read: ${errorText(error)}`);
  }
};

const toJson = (entry: CreatedResource): object => {
  if (entry.kind === "hook") return entry;
  const { kind, ...rest } = entry;
  if (kind === "route") return { kind, context: CallContext.toJSON(entry.context), route: Route.toJSON(entry.route) };
  return { kind, ...Object(DeleteLoadBalancerRequest.toJSON(DeleteLoadBalancerRequest.fromPartial(rest))) };
};

const fromJson = (value: unknown): CreatedResource => {
  const property = (key: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  if (property("kind") === "hook") return hookEntry(property("undo"), property("variables"));
  const context = CallContext.fromJSON(property("context"));
  if (context.cluster?.id.startsWith(clusterPrefix) !== true)
    throw new TypeError(`cluster "${context.cluster?.id ?? ""}" is none of the kit's`);
  switch (property("kind")) {
    case "route":
      return { kind: "route", context, route: Route.fromJSON(property("route")) };
    case "loadBalancer":
      return balancerEntry(context, DeleteLoadBalancerRequest.fromJSON(value));
    default:
      throw new TypeError(`it is neither a route nor a load balancer`);
  }
};

const balancerEntry = (
  context: CallContext,
  { service, class: name, annotations }: DeleteLoadBalancerRequest,
): CreatedResource => {
  if (service === undefined) throw new TypeError("it does not say of which Service the load balancer is");
  return { kind: "loadBalancer", context, service, class: name, annotations };
};

const hookEntry = (undo: unknown, variables: unknown): HookEntry => {
  const name = hookNames.find((candidate) => candidate === undo);
  const pairs = typeof variables === "object" && variables !== null ? Object.entries(variables) : [];
  if (name === undefined) throw new TypeError("nothing is known that undoes it");
  return { kind: "hook", undo: name, variables: Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])) };
};

/** A list that a run has left, in its file. */
export interface LeftResources {
  readonly path: string;
  readonly entries: readonly CreatedResource[];
  /** Of the run that wrote it; undefined if it has nothing with an ownership tag. */
  readonly runId: string | undefined;
  readonly ageMs: number;
}

/** Every list of a run in the directories and those in them. A file that a run still writes is young: its age is that of its last line. */
export const findCreatedResources = async (
  directories: readonly string[],
  nowMs: number,
): Promise<readonly LeftResources[]> => {
  const found: LeftResources[] = [];
  for (const directory of directories)
    for (const path of await resourcesPaths(directory)) {
      const left = await createdResourcesAt(path, nowMs);
      if (left !== undefined) found.push(left);
    }
  return found;
};

/** The list of one file; undefined: there is none. */
export const createdResourcesAt = async (path: string, nowMs: number): Promise<LeftResources | undefined> => {
  const entries = readCreatedResources(path);
  if (entries === undefined) return undefined;
  const { mtimeMs } = await stat(path);
  return { path, entries, runId: runIdOf(entries), ageMs: nowMs - mtimeMs };
};

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The clusters whose ownership tags the resources of a list have. */
const runIdOf = (entries: readonly CreatedResource[]): string | undefined => {
  const ids = entries.flatMap((entry) => ("context" in entry ? [entry.context.cluster?.id ?? ""] : []));
  return uuid.exec(ids[0]?.slice(clusterPrefix.length) ?? "")?.[0];
};

/** As runs name them: in the directory of a report, or where temporary files go. */
const isResourcesFile = (name: string): boolean =>
  name === "resources.jsonl" || /^cloudwire-conformance-.*\.jsonl$/.test(name);

const resourcesPaths = async (directory: string): Promise<readonly string[]> => {
  const names = await readdir(directory, { recursive: true }).catch((error: unknown) => {
    throw new UsageError(`the directory ${directory} cannot be searched for lists of runs: ${errorText(error)}`);
  });
  return names
    .filter((name) => isResourcesFile(basename(name)))
    .map((name) => join(directory, name))
    .toSorted();
};
