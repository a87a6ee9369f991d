import type { Duration } from "@cloudwire/proto/google/protobuf/duration";

/** Milliseconds as a protobuf duration. */
export const toDuration = (ms: number): Duration => {
  const wholeMs = Math.round(ms);
  return { seconds: BigInt(Math.trunc(wholeMs / 1_000)), nanos: (wholeMs % 1_000) * 1_000_000 };
};

/** A protobuf duration in milliseconds, or the given value where there is none. */
export const fromDuration = <Fallback>(duration: Duration | undefined, fallback: Fallback): number | Fallback =>
  duration === undefined ? fallback : Number(duration.seconds) * 1_000 + Math.round(duration.nanos / 1_000_000);
