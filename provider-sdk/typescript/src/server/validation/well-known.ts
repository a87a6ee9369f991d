/** Protobuf's own bounds of a Timestamp: the years 1 to 9999. */
const minTimeMs = -62_135_596_800_000;
const maxTimeMs = 253_402_300_799_999;

/** Protobuf's own bound of a Duration: about 10,000 years. */
const maxDurationSeconds = 315_576_000_000n;

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

/** What is wrong with a value of protobuf's well-known types, as they come out of the decoder; undefined if nothing. */
export const wellKnownProblems: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  "google.protobuf.Timestamp": (value) => {
    const ms = value instanceof Date ? value.getTime() : Number.NaN;
    return ms >= minTimeMs && ms <= maxTimeMs ? undefined : "is no time of the years 1 to 9999";
  },
  "google.protobuf.Duration": (value) => {
    const seconds = property(value, "seconds");
    const nanos = property(value, "nanos");
    const isInRange = typeof seconds !== "bigint" || (seconds >= -maxDurationSeconds && seconds <= maxDurationSeconds);
    const isFraction = typeof nanos !== "number" || Math.abs(nanos) < 1_000_000_000;
    return isInRange && isFraction ? undefined : "is no duration of at most 10,000 years";
  },
};
