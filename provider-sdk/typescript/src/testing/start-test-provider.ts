import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProviderDefinition } from "../definition/provider.ts";
import { createLogger } from "../telemetry/log.ts";
import { type RunningProvider, type StartOptions, startProvider } from "../server/start-provider.ts";
import { connectToProvider, type ProviderClient, type ProviderClientOptions } from "./provider-client.ts";

/** How a provider is served to a test. */
export interface TestProviderOptions extends Partial<Omit<StartOptions, "endpoint">>, ProviderClientOptions {
  /** Longest time to wait for the first check of the cloud, on the machine's clock. Default: 2 s; 0: do not wait. */
  readonly firstCheckMs?: number | undefined;
}

/** A provider that is served to a test, and a client of it. */
export interface TestProvider extends AsyncDisposable {
  /** Calls it over a connection of gRPC, so that all that the SDK does takes place. */
  readonly client: ProviderClient;
  /** Where it is served; a conformance kit or `grpcurl` can call it there too. */
  readonly address: string;
  /** What it logged, each line an object of JSON; everything from `debug` on. */
  readonly logged: readonly string[];
  /** The provider, as `startProvider` answers it. */
  readonly running: RunningProvider;
  /** Ends client and provider and removes the socket. May be called more than once. */
  readonly close: () => Promise<void>;
}

const defaultFirstCheckMs = 2_000;
/** Calls that a test leaves under way should not hold it up. */
const drainMs = 100;
const pollMs = 5;

/**
 * Serves a provider inside the test's own process, on a socket in a temporary directory, with no signal handlers, no environment and no exit. It has
 * been checked once when this returns, whether or not the cloud answered.
 */
export const startTestProvider = async (
  definition: ProviderDefinition,
  options: TestProviderOptions = {},
): Promise<TestProvider> => {
  const directory = await mkdtemp(join(tmpdir(), "provider-"));
  const logged: string[] = [];
  const log = createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date() });
  const running = await startProvider(definition, {
    log,
    drainMs,
    ...options,
    endpoint: { kind: "unix", path: join(directory, "provider.sock") },
  }).catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true });
    throw error;
  });
  const client = connectToProvider(running.address, options);
  const close = async (): Promise<void> => {
    client.close();
    await running.close();
    await rm(directory, { recursive: true, force: true });
  };
  await firstCheck(client, options.firstCheckMs ?? defaultFirstCheckMs);
  return { client, address: running.address, logged, running, close, [Symbol.asyncDispose]: close };
};

const firstCheck = async (client: ProviderClient, timeoutMs: number): Promise<void> => {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs && (await isUnchecked(client))) await sleep(pollMs);
};

const isUnchecked = async (client: ProviderClient): Promise<boolean> => {
  const { conditions } = await client.getProviderStatus();
  return conditions.every(({ reason }) => reason === "NotChecked");
};
