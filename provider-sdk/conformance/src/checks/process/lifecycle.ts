import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { methods } from "../../contract/methods.ts";
import { Connection } from "../../endpoint/connection.ts";
import { client } from "../../endpoint/reach.ts";
import type { Check, CheckContext, OwnProvider } from "../../suite/check.ts";
import { expectNone, expectOk, fail } from "../../suite/expect.ts";

const base = {
  level: "D",
  profile: "core",
  transport: "unix",
  starts: true,
  exclusive: true,
  timeoutMs: 60_000,
  requires: ["proc.socket.appears"],
} as const;

/** The contract gives calls under way 10 s (TRN-7); the rest is for the process itself. */
const endMs = 15_000;

/** Starts the provider once more. */
const start = (context: CheckContext, socketPath?: string): Promise<OwnProvider> =>
  context.start?.(socketPath) ?? fail({ message: "the kit was given no command" });

/** Starts it and waits until it answers. */
const started = async (context: CheckContext, socketPath?: string) => {
  const own = await start(context, socketPath);
  return { own, info: await context.ready(own) };
};

/** How a process ends within the time; undefined: it does not. */
export const ending = async ({ process }: OwnProvider, context: CheckContext): Promise<string | undefined> => {
  const signal = context.signal;
  const late = wait(endMs * context.slowFactor, undefined, { signal, ref: false }).catch(() => undefined);
  return Promise.race([process.ended, late]);
};

/** A socket file as a process leaves it that was killed: who serves it would take it away with him. */
const leaveDeadSocket = async (path: string): Promise<void> => {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(`${path}.served`, resolve);
  });
  await rename(`${path}.served`, path);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
};

/** A provider's whole life: what it leaves behind, and how it comes back. */
export const lifeChecks: readonly Check[] = [
  {
    ...base,
    requires: [],
    id: "proc.socket.appears",
    title: "a process serves within 10 s of its start",
    rules: ["TRN-1"],
    why: "A pod whose provider is late is restarted by its probes, again and again. Usually the cloud is asked for everything before the socket is made.",
    run: async (context) => void (await started(context)),
  },
  {
    ...base,
    id: "proc.socket.siblings",
    title: "beside the socket there is no other file",
    rules: ["TRN-2"],
    why: "The directory is shared with the controller, and often read-only but for the socket.",
    run: async (context) => {
      const { own } = await started(context);
      const files = await readdir(dirname(own.socketPath));
      expectNone(
        files.filter((name) => name !== basename(own.socketPath)),
        "there are other files",
      );
    },
  },
  {
    ...base,
    id: "proc.socket.stale",
    title: "an unused socket file is replaced",
    rules: ["TRN-3"],
    why: "The directory outlives the container: what an earlier one left must not keep the next from starting.",
    run: async (context) => {
      const directory = await mkdtemp(join(tmpdir(), "conformance-stale-"));
      try {
        const path = join(directory, "provider.sock");
        await leaveDeadSocket(path);
        await started(context, path);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  },
  {
    ...base,
    id: "proc.socket.live",
    title: "a second process at the socket of a first ends with an error and takes nothing from it",
    rules: ["TRN-3"],
    why: "Two providers at one socket: half of the calls reach a process that is about to end.",
    run: async (context) => {
      const { own, info } = await started(context);
      const second = await start(context, own.socketPath);
      const how = await ending(second, context);
      if (how === undefined || how === "code 0")
        fail({
          message: "the second process does not give up",
          expected: "an exit code other than 0",
          got: how ?? "it runs",
        });
      const connection = new Connection({ kind: "unix", path: own.socketPath });
      const called = await context.caller.call(methods.getProviderInfo, { client }, { connection });
      connection.close();
      const { response } = expectOk(called, "the first process is no longer reached");
      if (response.bootId !== info.bootId)
        fail({ message: "the socket is another process's", expected: info.bootId, got: response.bootId });
    },
  },
  {
    ...base,
    id: "proc.term.drain",
    title: "on SIGTERM the process ends with code 0",
    rules: ["TRN-7"],
    why: "Kubernetes kills what does not end, with calls under way.",
    run: async (context) => {
      const { own } = await started(context);
      own.process.signal("SIGTERM");
      const how = await ending(own, context);
      if (how !== "code 0")
        fail({
          message: "the process does not end as it has to",
          expected: "code 0 within 15 s",
          got: how ?? "it runs",
        });
    },
  },
  {
    ...base,
    id: "proc.term.unlink",
    title: "after SIGTERM the socket file is gone",
    rules: ["TRN-7"],
    why: "A socket without a server looks like a provider that hangs.",
    requires: ["proc.socket.appears", "proc.term.drain"],
    run: async (context) => {
      const { own } = await started(context);
      own.process.signal("SIGTERM");
      await ending(own, context);
      const files = await readdir(dirname(own.socketPath));
      expectNone(
        files.filter((name) => name === basename(own.socketPath)),
        "the socket file is still there",
      );
    },
  },
  {
    ...base,
    id: "proc.kill.recover",
    title: "after SIGKILL the next process serves at the same socket",
    rules: ["TRN-3", "SHAPE-2"],
    why: "A container that ran out of memory leaves its socket file behind.",
    run: async (context) => {
      const { own } = await started(context);
      own.process.signal("SIGKILL");
      await own.process.ended;
      const again = await start(context, own.socketPath);
      await context.ready(again).catch((error: unknown) =>
        fail({
          message: "the next process does not serve",
          expected: "a handshake within 10 s",
          got: error instanceof Error ? error.message : String(error),
        }),
      );
    },
  },
  {
    ...base,
    id: "info.boot.changes",
    title: "each process has a boot_id of its own",
    rules: ["INF-2"],
    why: "The controller would not notice that the provider has lost its state.",
    run: async (context) => {
      const { info } = await started(context);
      if (info.bootId === context.info.bootId) fail({ message: "two processes have one boot_id", got: info.bootId });
    },
  },
];

/** A process that a check has started, and the context with which it is called. */
export interface Life {
  readonly own: OwnProvider;
  readonly context: CheckContext;
}

/** Starts the provider once more, lets `use` call it, and hangs up. */
export const withLife = async <Result>(
  context: CheckContext,
  socketPath: string | undefined,
  use: (life: Life) => Promise<Result>,
): Promise<Result> => {
  const own = await start(context, socketPath);
  await context.ready(own);
  const connection = new Connection(own.endpoint);
  try {
    return await use({ own, context: { ...context, caller: context.caller.over(connection) } });
  } finally {
    connection.close();
  }
};
