/** A duration of the contract in milliseconds; undefined where there is none. */
export const durationMs = (
  duration: { readonly seconds: bigint; readonly nanos: number } | undefined,
): number | undefined => duration && Number(duration.seconds) * 1_000 + duration.nanos / 1_000_000;

/** The longest time after which a provider may ask to be asked again. */
const mostPollAfterMs = 60_000;

/** How long to wait as an answer asks for it, or for what is usual: whatever a provider says, neither in a hurry nor for ever. */
export const pauseMs = (askedMs: number | undefined, usualMs: number): number =>
  Math.min(Math.max(askedMs ?? usualMs, 10), mostPollAfterMs);

/** Milliseconds as a duration of the contract. */
export const toDuration = (ms: number): { seconds: bigint; nanos: number } => ({
  seconds: BigInt(Math.floor(ms / 1_000)),
  nanos: (ms % 1_000) * 1_000_000,
});
