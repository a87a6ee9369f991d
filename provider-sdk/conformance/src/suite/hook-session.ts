import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import {
  type CheckHooks,
  type Hook,
  HookError,
  type HookMachine,
  type HookName,
  type HookVariables,
  type Hooks,
  undoOf,
} from "./hooks.ts";
import { errorText } from "../errors.ts";
import { property } from "../contract/field-rules.ts";
import type { HookEntry, CreatedResources } from "./created-resources.ts";
import { runHook } from "./run-hook.ts";

/** One action as it was carried out: what a trace shows. */
export interface HookRecord {
  readonly name: HookName;
  readonly elapsedMs: number;
  /** What it wrote, or why it failed. */
  readonly output: string;
}

/** What the actions of a run need. */
export interface HookSessionOptions {
  readonly hooks: Hooks;
  readonly resources: CreatedResources;
  /** Stands for the run. */
  readonly runId: string;
  /** Process of the provider, where the kit has started it. */
  readonly providerPid?: number | undefined;
  readonly onHook?: ((check: string, record: HookRecord) => void) | undefined;
}

/** The vendor's actions for the checks of one run. Each is noted before it is carried out, and what it set is undone with the check. */
export class HookSession {
  readonly #options: HookSessionOptions;
  /** Why no check can be evaluated any longer: a fault that stays. */
  #stuck: string | undefined;

  constructor(options: HookSessionOptions) {
    this.#options = options;
  }

  /** Why the cloud is not as it was; undefined: it is. */
  get stuck(): string | undefined {
    return this.#stuck;
  }

  /** The actions as one check has them, and what undoes all that it has set. */
  open(check: string, signal: AbortSignal): { readonly hooks: CheckHooks; readonly close: () => Promise<void> } {
    const set: { readonly name: HookName; readonly entry: HookEntry }[] = [];
    let ended = false;
    const run = async (name: HookName, variables: HookVariables = {}): Promise<string> => {
      // A check whose time is up must not set a fault that would not be undone.
      if (ended) throw new HookError(`the check ended before the hook ${name}`);
      signal.throwIfAborted();
      return this.#run(check, name, variables);
    };
    const undoOne = async (one: (typeof set)[number]): Promise<void> => {
      await this.#undo(check, one.entry);
      set.splice(set.indexOf(one), 1);
    };
    const setFault = async (name: HookName, variables: HookVariables = {}): Promise<string> => {
      const undo = undoOf(name);
      if (undo === undefined) throw new TypeError(`nothing undoes the hook ${name}`);
      signal.throwIfAborted();
      const entry: HookEntry = { kind: "hook", undo, variables };
      this.#options.resources.note(entry);
      set.push({ name, entry });
      return run(name, variables);
    };
    const hooks: CheckHooks = {
      has: (name) => this.has(name),
      set: async (name, variables) => void (await setFault(name, variables)),
      undo: async (name) => {
        for (const one of set.filter((other) => other.name === name)) await undoOne(one);
      },
      createMachine: async () => {
        const asked = machineVariables({ nodeName: `conformance-${randomUUID().slice(0, 8)}`, providerId: "" });
        return machineOf(await setFault("instanceCreate", asked), asked["CONFORMANCE_NODE_NAME"] ?? "");
      },
      stopMachine: async (machine) => void (await run("instanceStop", machineVariables(machine))),
      terminateMachine: async (machine) => void (await run("instanceTerminate", machineVariables(machine))),
      cloudCalls: async () => numberIn(await run("cloudCallCount"), "cloudCallCount", "calls"),
      procStats: async () => {
        const { providerPid, hooks: given } = this.#options;
        if (given.procStats === undefined && providerPid !== undefined) return statsOf(providerPid);
        const output = await run("procStats");
        return {
          rssBytes: numberIn(output, "procStats", "rssBytes"),
          openFiles: numberIn(output, "procStats", "openFiles"),
        };
      },
    };
    const close = async (): Promise<void> => {
      ended = true;
      for (const one of set.toReversed())
        await undoOne(one).catch((error: unknown) => {
          this.#stuck ??= `${check} could not undo what it did to the cloud: ${errorText(error)}`;
        });
    };
    return { hooks, close };
  }

  /** Whether an action can be carried out. */
  has(name: HookName): boolean {
    const { hooks, providerPid } = this.#options;
    return hasHook(hooks, providerPid, name);
  }

  async #run(check: string, name: HookName, variables: HookVariables): Promise<string> {
    const { hooks, onHook, runId, providerPid } = this.#options;
    const hook: Hook | undefined = hooks[name];
    if (hook === undefined) throw new HookError(`the configuration has no hook ${name}`);
    const startedMs = performance.now();
    const reported = (output: string): void =>
      onHook?.(check, { name, output, elapsedMs: performance.now() - startedMs });
    try {
      const output = await runHook(name, hook, {
        CONFORMANCE_ACTION: name,
        CONFORMANCE_CHECK: check,
        CONFORMANCE_RUN: runId,
        ...(providerPid !== undefined && { CONFORMANCE_PROVIDER_PID: String(providerPid) }),
        ...variables,
      });
      reported(output);
      return output;
    } catch (error) {
      reported(errorText(error));
      throw error;
    }
  }

  async #undo(check: string, entry: HookEntry): Promise<void> {
    await this.#run(check, entry.undo, entry.variables);
    this.#options.resources.settle(entry);
  }
}

/** Whether an action can be carried out: by the vendor, or, where the kit sees the provider's process, by itself. */
export const hasHook = (hooks: Hooks, providerPid: number | undefined, name: HookName): boolean =>
  hooks[name] !== undefined || (name === "procStats" && providerPid !== undefined && process.platform === "linux");

/** What a machine is to its actions. */
const machineVariables = ({ providerId, nodeName }: HookMachine): HookVariables => ({
  CONFORMANCE_NODE_NAME: nodeName,
  CONFORMANCE_PROVIDER_ID: providerId,
});

const jsonOf = (output: string, name: HookName): unknown => {
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new HookError(`the hook ${name} wrote no JSON: ${output.slice(0, 200)}`, { cause });
  }
};

const machineOf = (output: string, askedName: string): HookMachine => {
  const answer = jsonOf(output, "instanceCreate");
  const [providerId, nodeName] = [property(answer, "providerId"), property(answer, "nodeName") ?? askedName];
  if (typeof providerId !== "string" || typeof nodeName !== "string")
    throw new HookError(`the hook instanceCreate wrote no providerId: ${output.slice(0, 200)}`);
  return { providerId, nodeName };
};

const numberIn = (output: string, name: HookName, key: string): number => {
  const value = property(jsonOf(output, name), key);
  if (typeof value !== "number") throw new HookError(`the hook ${name} wrote no ${key}: ${output.slice(0, 200)}`);
  return value;
};

/** What Linux says of a process. */
const statsOf = async (pid: number) => {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
  return { rssBytes: rssKib * 1_024, openFiles: (await readdir(`/proc/${pid}/fd`)).length };
};
