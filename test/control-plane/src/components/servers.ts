import { get } from "../api-client.ts";
import type { KeyPair } from "../credentials/certificates.ts";
import { ControlPlaneError } from "../errors.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { poll } from "../poll.ts";
import { findFreePort, isFree } from "../ports.ts";

/** Starts a program of the control plane; it is stopped with the control plane. */
export type Launch = (program: string, args: readonly string[]) => Promise<ManagedProcess>;

export interface ServerContext {
  readonly launch: Launch;
  readonly caPem: string;
  readonly client: KeyPair;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface ServerSpec {
  readonly program: string;
  readonly args: (port: number) => readonly string[];
  /** Answers 200 when the server is ready. */
  readonly readyPath: string;
  /** What the answer has to contain besides; absent: nothing. */
  readonly readyText?: string;
}

export interface RunningServer {
  readonly process: ManagedProcess;
  readonly port: number;
}

/** A port cannot be reserved for a child process: when another process takes it first, the next attempt uses another port. */
const portAttempts = 3;

export async function startOnFreePort(spec: ServerSpec, context: ServerContext): Promise<RunningServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const process = await context.launch(spec.program, spec.args(port));
    try {
      await waitUntilReady(spec, process, port, context);
      return { process, port };
    } catch (error) {
      const lostPort = process.exit !== undefined && !(await isFree(port));
      if (!lostPort || attempt === portAttempts) throw error;
    }
  }
}

export async function waitUntilReady(
  spec: ServerSpec,
  process: ManagedProcess,
  port: number,
  context: ServerContext,
): Promise<void> {
  const { caPem, client, timeoutMs, signal } = context;
  const api = { server: `https://127.0.0.1:${port}`, caPem, client };
  let last = "no answer";
  try {
    await poll({ what: `${spec.program} to be ready`, timeoutMs, signal }, async () => {
      await process.requireRunning();
      const { status, body } = await get(api, spec.readyPath);
      if (status === 200 && body.includes(spec.readyText ?? "")) return true;
      last = status === undefined ? "no answer" : `${status} ${body}`;
      return undefined;
    });
  } catch (cause) {
    if (!(cause instanceof ControlPlaneError) || cause.code !== "NOT_READY") throw cause;
    const where = `${api.server}${spec.readyPath}`;
    throw new ControlPlaneError("NOT_READY", `${cause.message}; last from ${where}: ${last}; log: ${process.logPath}`, {
      cause,
    });
  }
}
