import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Program } from "@cloudwire/test";
import { readProcessUsage } from "../lib/process.ts";
import { firstAnswer } from "./first-answer.ts";
import type { MeasuredProvider } from "./providers.ts";

/** What one life of a provider cost. */
export interface Life {
  /** From the start of the process to its first response to a health check. */
  readonly servingMs: number;
  /** Processor time used until then, to 10 ms: what else the machine does changes it little. */
  readonly startCpuMs: number;
  readonly rssBytes: number;
  readonly pssBytes: number;
}

/** The cloud that providers are started for. */
export interface CloudAccess {
  readonly url: string;
  readonly apiKey: string;
}

/** Longer, and it will not serve at all. */
const startTimeoutMs = 30_000;

/** Starts a provider, waits until it serves, leaves it alone for a while, looks at it, ends it. */
export async function measureLife(
  { name, command, args }: MeasuredProvider,
  cloud: CloudAccess,
  idleMs: number,
): Promise<Life> {
  const directory = await mkdtemp(join(tmpdir(), "bench-sdk-"));
  const socketPath = join(directory, "provider.sock");
  const env = {
    CLOUD_PROVIDER_ENDPOINT: `unix://${socketPath}`,
    SIMCLOUD_URL: cloud.url,
    SIMCLOUD_API_KEY: cloud.apiKey,
  };
  const startedMs = performance.now();
  await using program = new Program({ command, args, env });
  try {
    await firstAnswer(socketPath, AbortSignal.timeout(startTimeoutMs));
    const servingMs = performance.now() - startedMs;
    const startCpuMs = (await readProcessUsage(program.pid)).cpuSeconds * 1_000;
    await sleep(idleMs);
    if (!program.running) throw new Error(`the provider in ${name} has ended:\n${program.output}`);
    const { rssBytes, pssBytes } = await readProcessUsage(program.pid);
    return { servingMs, startCpuMs, rssBytes, pssBytes };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
