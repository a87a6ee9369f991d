import { type ChildProcess, spawn } from "node:child_process";
import { UsageError } from "../check/usage-error.ts";
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
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Ends it and everything it started: politely, then not. */
  readonly stop: () => Promise<void>;
}

/** Starts a provider's command that is told its endpoint as the contract says, by CLOUD_PROVIDER_ENDPOINT. */
export const startProviderProcess = async (command: readonly string[], endpoint: string): Promise<ProviderProcess> => {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    // A group of its own: what the provider starts ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CLOUD_PROVIDER_ENDPOINT: endpoint },
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(new UsageError(`${program} could not be started: ${error.message}`)));
  });
  let log = "";
  const keep = (chunk: Buffer): void => {
    log = (log + chunk.toString()).slice(-maxLogChars);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
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
      child.stdout.destroy();
      child.stderr.destroy();
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
