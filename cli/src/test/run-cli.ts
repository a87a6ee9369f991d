import { COMMANDS } from "../commands/commands.ts";
import { type Terminal, createPaint } from "../terminal/terminal.ts";
import { runProgram } from "../program.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly terminal?: Partial<Terminal>;
  readonly signal?: AbortSignal;
  /** Called with each text for standard output. */
  readonly onOut?: (text: string) => void;
}

/** The program in this process, on a terminal that only remembers. */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let out = "";
  let err = "";
  const terminal: Terminal = {
    out: (text) => {
      out += text;
      options.onOut?.(text);
    },
    err: (text) => {
      err += text;
    },
    paint: createPaint(false),
    columns: undefined,
    canRedraw: false,
    canAsk: false,
    ask: async () => undefined,
    isUnicode: true,
    ...options.terminal,
  };
  const code = await runProgram(args, {
    program: "cloudwire",
    commands: COMMANDS,
    environment: { HOME: "/nonexistent", ...options.environment },
    readInput: async () => "",
    terminal: () => terminal,
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, out, err };
}
