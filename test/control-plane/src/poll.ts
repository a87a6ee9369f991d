import { setTimeout as sleep } from "node:timers/promises";
import { ControlPlaneError } from "./errors.ts";

export interface PollOptions {
  /** Completes "waited for …" in the error. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks again until there is an answer; undefined means "not yet". An attempt that throws ends the wait. */
export async function poll<T>(options: PollOptions, attempt: () => Promise<T | undefined>): Promise<T> {
  const { what, timeoutMs, intervalMs = 50, signal } = options;
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    const answer = await attempt();
    if (answer !== undefined) return answer;
    await sleep(intervalMs, undefined, signal === undefined ? {} : { signal });
  }
  throw new ControlPlaneError("NOT_READY", `waited ${timeoutMs / 1000} s for ${what}, without success`);
}
