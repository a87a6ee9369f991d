import { spawn } from "node:child_process";
import { shorten } from "../endpoint/exchange.ts";
import { errorText } from "../errors.ts";
import type { CreatedResource } from "./created-resources.ts";
import { type Hook, HookError, type HookName, type HookVariables, type Hooks } from "./hooks.ts";

/** How long an action may take that does not say. */
const defaultHookMs = 60_000;
/** What is kept of an action's output. */
const maxOutputChars = 64 * 1_024;

/** Carries out an action and answers what it wrote. Rejects with a HookError that says why it could not be, with its last lines. */
export const runHook = async (name: HookName, hook: Hook, variables: HookVariables): Promise<string> => {
  const timeoutMs = hook.timeoutMs ?? defaultHookMs;
  try {
    switch (hook.kind) {
      case "command":
        return await runCommand(hook, variables, timeoutMs);
      case "http":
        return await request(hook, variables, AbortSignal.timeout(Math.ceil(timeoutMs)));
      case "function":
        return await hook.call(variables);
    }
  } catch (error) {
    throw new HookError(`the hook ${name} failed: ${shorten(errorText(error), 600)}`, { cause: error });
  }
  return hook satisfies never;
};

const runCommand = (
  { command: [program = "", ...args], directory }: Extract<Hook, { readonly kind: "command" }>,
  variables: HookVariables,
  timeoutMs: number,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      // A group of its own: what it starts ends with it, and Ctrl-C at the kit does not end what undoes a fault.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...variables },
      ...(directory !== undefined && { cwd: directory }),
    });
    let [out, all] = ["", ""];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup(child.pid);
    }, timeoutMs);
    child.stdout.on("data", (chunk: Buffer) => {
      out = (out + chunk.toString()).slice(-maxOutputChars);
      all = (all + chunk.toString()).slice(-maxOutputChars);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      all = (all + chunk.toString()).slice(-maxOutputChars);
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`${program} could not be started: ${error.message}`));
    });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      // Processes that it leaves running keep the pipes open: do not wait for them.
      setImmediate(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        if (code === 0) return resolve(out);
        const how = late ? `it did not end within ${timeoutMs} ms` : `it ended with ${signal ?? `code ${code}`}`;
        reject(new Error(`${how}${all.trim() === "" ? "" : `: ${all.trim().slice(-400)}`}`));
      });
    });
  });

const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
};

const request = async (
  { method, url, headers, body }: Extract<Hook, { readonly kind: "http" }>,
  variables: HookVariables,
  signal: AbortSignal,
): Promise<string> => {
  const known = { ...process.env, ...variables };
  const answer = await fetch(filledIn(url, known), {
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filledIn(value, known)])),
    ...(body !== undefined && { body: filledIn(body, known) }),
    signal,
  });
  const text = (await answer.text()).slice(0, maxOutputChars);
  if (!answer.ok) throw new Error(`${method} ${filledIn(url, known)} answered ${answer.status}: ${text.slice(0, 400)}`);
  return text;
};

/** Replaces `${NAME}` by its value; an unknown name is an error, not an empty text. */
const filledIn = (text: string, known: Readonly<Record<string, string | undefined>>): string =>
  text.replaceAll(placeholder, (_match, name: string) => {
    const value = known[name];
    if (value === undefined) throw new Error(`there is no variable ${name}`);
    return value;
  });

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Names that a text refers to. */
export const placeholdersOf = (text: string): readonly string[] =>
  [...text.matchAll(placeholder)].map(([, name]) => name ?? "");

/**
 * Undoes, the last first, what actions may have done to the cloud. Answers what could not be undone, and why: once the signal says that it is
 * enough nothing more is begun, and what is under way has its own limit.
 */
export const undoAll = async (
  entries: readonly CreatedResource[],
  hooks: Hooks,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const left: string[] = [];
  const seen = new Set<string>();
  for (const entry of entries.toReversed()) {
    if (entry.kind !== "hook") continue;
    const { undo, variables } = entry;
    // The same fault set by ten checks is undone once.
    const key = JSON.stringify([undo, variables]);
    if (seen.has(key)) continue;
    seen.add(key);
    const reported = {
      CONFORMANCE_ACTION: undo,
      CONFORMANCE_CHECK: "cleanup",
      CONFORMANCE_RUN: "cleanup",
      ...variables,
    };
    const why = signal.aborted ? "it was not tried, for time was up" : await undone(undo, hooks[undo], reported);
    if (why !== undefined) left.push(`${undo} ${Object.values(variables).join(" ")}`.trimEnd().concat(`: ${why}`));
  }
  return left;
};

/** Undefined, or why it could not be undone. */
const undone = (name: HookName, hook: Hook | undefined, reported: HookVariables): Promise<string | undefined> =>
  hook === undefined
    ? Promise.resolve(`the configuration has no hook ${name}`)
    : runHook(name, hook, reported).then(() => undefined, errorText);
