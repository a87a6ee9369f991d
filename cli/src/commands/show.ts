import { stringify } from "yaml";
import { CommandError } from "../errors.ts";
import type { Style } from "../render/style.ts";
import { toAscii } from "../terminal/terminal.ts";
import type { Call } from "./command.ts";

/** What a command shows: the same for people and for programs. */
export interface Answer {
  /** As the controller said it. */
  readonly content: unknown;
  readonly text: (style: Style) => string;
  /** An error without --watch. */
  readonly problem?: string;
}

const CLEAR = "\u001B[H\u001B[2J";

/** Shows an answer as --output wants it. */
export function show({ values, terminal }: Call, { content, text }: Answer): void {
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
export async function showOrWatch(call: Call, ask: () => Promise<Answer>): Promise<void> {
  const first = await ask();
  if (!call.values.flag("watch")) {
    const { problem } = first;
    if (problem === undefined || call.values.textOf("output") !== "text") show(call, first);
    if (problem !== undefined) throw new CommandError(problem);
    return;
  }
  let before = "";
  for await (const next of answers(call, first, ask)) {
    const now = stable(next.content);
    const isText = call.values.textOf("output") === "text";
    if (isText && call.terminal.canRedraw) call.terminal.out(CLEAR);
    else if (now === before) continue;
    if (isText) show(call, next);
    else call.terminal.out(documentOf(next.content, call.values.textOf("output")));
    before = now;
  }
}

async function* answers(call: Call, first: Answer, ask: () => Promise<Answer>): AsyncGenerator<Answer> {
  yield first;
  let reported = "";
  while (await waited(call.values.durationMs("interval"), call.signal)) {
    try {
      yield await ask();
      reported = "";
    } catch (error) {
      if (call.signal.aborted) return;
      if (!(error instanceof CommandError)) throw error;
      // Once, for as long as it lasts.
      if (error.message !== reported) call.terminal.err(`${call.program}: ${error.message}\n`);
      reported = error.message;
      // The leader may be another one by now.
      await call.forgetController();
    }
  }
}

/** One line of JSON, or one YAML document. */
function documentOf(content: unknown, format: string): string {
  return format === "json" ? `${jsonText(content)}\n` : `---\n${yamlText(content)}`;
}

/** What is no change by itself: when it was asked, and how long something takes from then. */
const MOVING = new Set(["time", "inMs", "processingMs", "tokens"]);

function stable(content: unknown): string {
  return JSON.stringify(content, (name, value: unknown) => (MOVING.has(name) ? undefined : value));
}

/** False: the process is to end. */
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

/** What JSON leaves as it is, and a terminal obeys or is turned by. It can only stand in texts. */
const ACTIVE = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
/** Those for whose sake YAML puts a text into quotes. */
const CONTROLS = /[\u007F-\u009F]/g;

/** JSON that can be shown. */
export function jsonText(content: unknown, indent?: number): string {
  return JSON.stringify(content, undefined, indent).replaceAll(ACTIVE, escaped);
}

/** YAML that readers of 1.1, as most are, and of 1.2 take for the same: `off` is a text to both. */
export function yamlText(content: unknown): string {
  return stringify(content, { compat: "yaml-1.1", aliasDuplicateObjects: false }).replaceAll(CONTROLS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
