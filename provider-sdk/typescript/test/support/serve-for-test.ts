import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import type { ProviderDefinition } from "../../src/definition/provider.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { type RunningProvider, type StartOptions, startProvider } from "../../src/server/start-provider.ts";

/** A provider on a socket of its own, and a client of it; both end with the test. */
export interface ServedForTest {
  readonly provider: RunningProvider;
  readonly client: Client;
  readonly socketPath: string;
  /** Lines that the provider logged. */
  readonly logged: readonly string[];
  /** One more connection. */
  readonly connect: () => Client;
}

/** The scope of every definition here. */
const testScope = "acct-1";

/** A valid context of requests. */
export const context = { cluster: { id: "cluster-1", name: "test" }, scopeId: testScope };

/** Everything of a definition but the groups. */
export const basics = {
  name: "acme.example.com",
  version: "1.0.0",
  idPrefix: "acme://",
  scope: testScope,
  check: () => undefined,
} as const;

/** A directory that ends with the test. */
export const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "sdk-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

/** Serves a definition until the test ends. */
export const serveForTest = async (
  definition: ProviderDefinition,
  options: Partial<StartOptions> = {},
): Promise<ServedForTest> => {
  const socketPath = join(await temporaryDirectory(), "provider.sock");
  const logged: string[] = [];
  const log = createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date() });
  const provider = await startProvider(definition, {
    endpoint: { kind: "unix", path: socketPath },
    log,
    drainMs: 200,
    ...options,
  });
  const connect = (): Client => {
    const client = new Client(`unix://${socketPath}`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": -1,
    });
    onTestFinished(() => client.close());
    return client;
  };
  onTestFinished(() => provider.close());
  return { provider, client: connect(), socketPath, logged, connect };
};

/** Waits until a condition holds, looking again and again. */
export const eventually = async (holds: () => boolean | Promise<boolean>, timeoutMs = 5_000): Promise<void> => {
  const endMs = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`did not come true within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
