import type { AuditEvent } from "@cloudwire/control-plane";

/** What a peer has done and used since the measuring began. Undefined: it has no such thing. */
export interface Counts {
  readonly cpuSeconds: number;
  /** Of its first program, the controller. */
  readonly controllerRssBytes: number | undefined;
  readonly rssBytes: number | undefined;
  readonly pssBytes: number | undefined;
  readonly peakRssBytes: number | undefined;
  readonly cloudCalls: number;
  readonly cloudChanges: number;
  /** Without events and leases. */
  readonly apiWrites: number;
  readonly events: number;
}

/** Response times of a controller during the work. */
export interface Reaction {
  /** Of its health endpoint, since its first response. */
  readonly healthMs: readonly number[];
  /** 99th percentile of the event loop lag. Undefined for other programs than Node. */
  readonly eventLoopP99Ms: number | undefined;
}

/** How far a work has come, and when. */
export interface Done {
  readonly seconds: number;
  /** 1: all of it. */
  readonly share: number;
}

const WRITES = new Set(["create", "update", "patch", "delete"]);

export interface ApiWrites {
  /** Without events and leases. */
  readonly apiWrites: number;
  readonly events: number;
}

/** Writes since then, from the API server's audit log. */
export function countWrites(log: readonly AuditEvent[], sinceMs: number): ApiWrites {
  const all = log.filter(
    ({ verb, resource, stage, receivedAt }) =>
      WRITES.has(verb) && resource !== "leases" && stage === "ResponseComplete" && Date.parse(receivedAt) >= sinceMs,
  );
  const events = all.filter(({ resource }) => resource === "events").length;
  return { apiWrites: all.length - events, events };
}

const CALL_MS = 60_000;

/** By how much 99 of 100 turns of a Node process's event loop were late at most, since its metrics were read last. */
export async function readEventLoopP99Ms(metricsUrl: string): Promise<number | undefined> {
  const answer = await fetch(metricsUrl, { signal: AbortSignal.timeout(CALL_MS) });
  const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await answer.text())?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
