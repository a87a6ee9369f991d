import type { Duration } from "@cloudwire/proto/google/protobuf/duration";

const NANOS_PER_MS = 1_000_000;

/** undefined stays undefined, so that "not said" and "0" stay apart. */
export function durationMs(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1000 + duration.nanos / NANOS_PER_MS;
}

/** Negative and broken values count as 0. */
export function durationToProto(ms: number): Duration {
  const wholeMs = Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0;
  return { seconds: BigInt(Math.floor(wholeMs / 1000)), nanos: (wholeMs % 1000) * NANOS_PER_MS };
}

/** undefined for an absent or unreadable time. */
export function timeMs(time: Date | undefined): number | undefined {
  const ms = time?.getTime();
  return ms === undefined || Number.isNaN(ms) ? undefined : ms;
}

/** 0 is how Kubernetes objects here say "no time". */
export function timeToProto(ms: number): Date | undefined {
  return ms === 0 ? undefined : new Date(ms);
}
