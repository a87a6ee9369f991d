import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { DeleteLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { errorText } from "../error-text.ts";
import { UsageError } from "../errors.ts";
import { hookNames } from "./hooks.ts";
import { clusterPrefix, type HookEntry, type LedgerEntry } from "./created-resources.ts";

/**
 * The list of what a run may have made, in a file that outlives a crash: a JSON object a line, on the disk before the call that makes it leaves. There is
 * no file while there is nothing to list.
 */
export class LedgerFile {
  readonly path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Adds an entry; returns once it is on the disk. */
  readonly add = (entry: LedgerEntry): void => {
    this.#file ??= this.#open();
    writeSync(this.#file, `${JSON.stringify(toJson(entry))}\n`);
    fsyncSync(this.#file);
  };

  /** Whether it tells of anything yet. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** Ends the list: it goes if nothing of it is left at the cloud. */
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
    const folder = openSync(dirname(this.path), "r");
    fsyncSync(folder);
    closeSync(folder);
    return file;
  }
}

/** What a list tells; undefined: there is no such file. Throws a UsageError for a file that is none. */
export const readLedger = (path: string): readonly LedgerEntry[] | undefined => {
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

const toJson = (entry: LedgerEntry): object => {
  if (entry.kind === "hook") return entry;
  const { kind, ...rest } = entry;
  if (kind === "route") return { kind, context: CallContext.toJSON(entry.context), route: Route.toJSON(entry.route) };
  return { kind, ...Object(DeleteLoadBalancerRequest.toJSON(DeleteLoadBalancerRequest.fromPartial(rest))) };
};

const fromJson = (value: unknown): LedgerEntry => {
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
): LedgerEntry => {
  if (service === undefined) throw new TypeError("it does not say of which Service the load balancer is");
  return { kind: "loadBalancer", context, service, class: name, annotations };
};

const hookEntry = (undo: unknown, variables: unknown): HookEntry => {
  const name = hookNames.find((candidate) => candidate === undo);
  const pairs = typeof variables === "object" && variables !== null ? Object.entries(variables) : [];
  if (name === undefined) throw new TypeError("nothing is known that undoes it");
  return { kind: "hook", undo: name, variables: Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])) };
};
