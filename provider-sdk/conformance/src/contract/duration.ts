/** A duration of the contract in milliseconds; undefined where there is none. */
export const durationMs = (
  duration: { readonly seconds: bigint; readonly nanos: number } | undefined,
): number | undefined => duration && Number(duration.seconds) * 1_000 + duration.nanos / 1_000_000;

/** Milliseconds as a duration of the contract. */
export const toDuration = (ms: number): { seconds: bigint; nanos: number } => ({
  seconds: BigInt(Math.floor(ms / 1_000)),
  nanos: (ms % 1_000) * 1_000_000,
});
