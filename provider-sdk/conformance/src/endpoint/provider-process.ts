import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UsageError, errorText } from "../errors.ts";
import { NotReadyError } from "./reach.ts";

/** What the kit keeps of a provider's output: the end of it, however much there is. */
const maxLogChars = 256 * 1_024;
/** The contract gives a provider 10 s to end (TRN-7); this much more is patience. */
const stopPatienceMs = 12_000;

/** A provider that the kit started, in a process group of its own. */
export interface ProviderProcess {
  /** The last 256 KiB of what it wrote to standard output and standard error. */
  readonly log: () => string;
  /** Aborted once it has ended, with a NotReadyError that says how. */
  readonly gone: AbortSignal;
  /** `code 0` or `signal SIGKILL`, once it has ended. */
  readonly ended: Promise<string>;
  readonly pid: number | undefined;
  /** Passes on all that it writes from now on, piece by piece. */
  readonly onOutput: (listener: (piece: string) => void) => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Ends it and everything it started: politely, then not. */
  readonly stop: () => Promise<void>;
}

/**
 * Becomes the provider's command, and leaves a shell behind in its process group that waits for the end of a pipe which only the kit holds open. However
 * the kit ends, SIGKILL included, the pipe does, too, and the shell kills the group. It asks for no process by its number, so it cannot hit another's; it
 * is no child of the provider's; and it needs no cleanup.
 */
const endsWithTheKit =
  '( ( trap "" HUP INT TERM; read -r _ <&3; kill -KILL 0 ) </dev/null >/dev/null 2>&1 & ); exec "$@" 3<&-';

/** Starts a provider's command; its environment comes with the place that it has to serve. */
export const startProviderProcess = async (
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProviderProcess> => {
  const [program = "", ...args] = command;
  const child = spawn("/bin/sh", ["-c", endsWithTheKit, "sh", findProgram(program), ...args], {
    // A group of its own: what the provider starts ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const lifeline = child.stdio[3];
  lifeline?.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  let log = "";
  const listeners: ((piece: string) => void)[] = [];
  const keep = (chunk: Buffer): void => {
    const piece = chunk.toString();
    log = (log + piece).slice(-maxLogChars);
    for (const listener of listeners) listener(piece);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  const gone = new AbortController();
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      const how = signal === null ? `code ${code}` : `signal ${signal}`;
      gone.abort(new NotReadyError(`the provider ended with ${how}`));
      resolve(how);
    });
  });
  // Whatever ends the kit, nothing that it started stays.
  const killAll = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", killAll);
  return {
    log: () => log,
    gone: gone.signal,
    ended,
    pid: child.pid,
    onOutput: (listener) => void listeners.push(listener),
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      signalGroup(child, "SIGTERM");
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, stopPatienceMs);
      await Promise.race([ended, patience.promise]);
      clearTimeout(timer);
      // Also where the provider itself has ended: its children may not have.
      killAll();
      await ended;
      process.off("exit", killAll);
      for (const stream of child.stdio) stream?.destroy();
    },
  };
};

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended: that is what was wanted.
  }
};

/** The file of a program, as a shell finds it. Throws a UsageError where there is none that can be run. */
const findProgram = (program: string, path = process.env["PATH"] ?? ""): string => {
  const candidates = program.includes("/")
    ? [program]
    : path.split(delimiter).map((directory) => join(directory === "" ? "." : directory, program));
  const problems = candidates.map(problemOf);
  const found = candidates.find((_, index) => problems[index] === undefined);
  if (found !== undefined) return found.includes("/") ? found : `./${found}`;
  const why = program.includes("/") ? (problems[0] ?? "") : `there is no such program in PATH (${path})`;
  throw new UsageError(`${program} could not be started: ${why}`);
};

const problemOf = (file: string): string | undefined => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? undefined : `${file} is no file`;
  } catch (error) {
    return errorText(error);
  }
};
