import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { poll } from "../poll.ts";

export interface BuildLockOptions {
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Lets one process at a time build into `dir`; the others wait. A file would outlive its owner: this is an abstract Unix
 * socket (Linux), which the kernel gives free however the owner ends.
 */
export async function buildLock(dir: string, options: BuildLockOptions): Promise<AsyncDisposable> {
  const name = `\0cloudwire-control-plane-${createHash("sha256").update(dir).digest("hex").slice(0, 32)}`;
  let waits = false;
  const { report, ...wait } = options;
  return await poll({ what: `another process to finish building ${dir}`, intervalMs: 500, ...wait }, async () => {
    const lock = await tryListen(name);
    if (lock === undefined && !waits) {
      waits = true;
      report(`control plane: another process is building ${dir}; waiting for it`);
    }
    return lock;
  });
}

async function tryListen(name: string): Promise<AsyncDisposable | undefined> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(name);
  try {
    await listening;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
