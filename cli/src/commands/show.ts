import { stringify } from "yaml";
import { CommandError, errorLine } from "../errors.ts";
import type { Style } from "../render/style.ts";
import { toAscii } from "../terminal/terminal.ts";
import type { Call } from "./command.ts";

/** The output of a command, as text and as data. */
export interface Shown {
  /** The response of the controller, unchanged. */
  readonly content: unknown;
  readonly text: (style: Style) => string;
  /** An error without --watch. */
  readonly problem?: string;
}

const CLEAR = "\u001B[H\u001B[2J";

/** Writes the output in the format of --output. */
export function show({ values, terminal }: Call, { content, text }: Shown): void {
  switch (values.textOf("output")) {
    case "json":
      terminal.out(`${jsonText(content, 2)}\n`);
      return;
    case "yaml":
      terminal.out(yamlText(content));
      return;
    default: {
      const shown = text(terminal);
      terminal.out(terminal.isUnicode ? shown : toAscii(shown));
    }
  }
}

/**
 * Shows the response. With --watch it refreshes until interrupted: redrawn on a terminal, otherwise one document per change. An error of
 * the first request ends the command; later errors are reported and retried.
 */
export async function showOrWatch(call: Call, ask: () => Promise<Shown>): Promise<void> {
  const first = await ask();
  if (!call.values.flag("watch")) {
    const { problem } = first;
    if (problem === undefined || call.values.textOf("output") !== "text") show(call, first);
    if (problem !== undefined) throw new CommandError("OBJECT_NOT_FOUND", problem);
    return;
  }
  let before = "";
  for await (const next of refreshed(call, first, ask)) {
    const now = stable(next.content);
    const isText = call.values.textOf("output") === "text";
    if (isText && call.terminal.canRedraw) call.terminal.out(CLEAR);
    else if (now === before) continue;
    if (isText) show(call, next);
    else call.terminal.out(documentOf(next.content, call.values.textOf("output")));
    before = now;
  }
}

async function* refreshed(call: Call, first: Shown, ask: () => Promise<Shown>): AsyncGenerator<Shown> {
  yield first;
  let reported = "";
  while (await waited(call.values.durationMs("interval"), call.signal)) {
    try {
      yield await ask();
      reported = "";
    } catch (error) {
      if (call.signal.aborted) return;
      if (!(error instanceof CommandError)) throw error;
      // The same error is reported once.
      if (error.message !== reported) call.terminal.err(`${call.program}: ${errorLine(error)}\n`);
      reported = error.message;
      // The leader may have changed.
      await call.forgetController();
    }
  }
}

/** One line of JSON, or one YAML document. */
function documentOf(content: unknown, format: string): string {
  return format === "json" ? `${jsonText(content)}\n` : `---\n${yamlText(content)}`;
}

/** Fields that change with time alone, which is not a change of the object. */
const VOLATILE = new Set(["time", "inMs", "processingMs", "tokens"]);

function stable(content: unknown): string {
  return JSON.stringify(content, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value));
}

/** False: the process shuts down. */
async function waited(durationMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  const end = (): void => resolve();
  signal.addEventListener("abort", end, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", end);
  return !signal.aborted;
}

/** Control and direction characters that JSON does not escape, but terminals interpret. */
const ACTIVE = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
/** Control characters, which make YAML quote a string. */
const CONTROLS = /[\u007F-\u009F]/g;

/** JSON without raw control characters. */
export function jsonText(content: unknown, indent?: number): string {
  return JSON.stringify(content, undefined, indent).replaceAll(ACTIVE, escaped);
}

/** YAML with the same meaning in YAML 1.1 and 1.2: `off` is a string in both. */
export function yamlText(content: unknown): string {
  return stringify(content, { compat: "yaml-1.1", aliasDuplicateObjects: false }).replaceAll(CONTROLS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
