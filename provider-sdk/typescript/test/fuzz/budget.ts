/** How long one property is tried: briefly with all other tests, `FUZZ_SECONDS` each in a fuzz run. */
export const budget = (env: Readonly<Record<string, string | undefined>>) => {
  const seconds = Number(env["FUZZ_SECONDS"] ?? "");
  return seconds > 0
    ? {
        parameters: { numRuns: 1_000_000_000, interruptAfterTimeLimit: seconds * 1_000 },
        timeoutMs: seconds * 1_000 + 120_000,
      }
    : { parameters: { numRuns: 60, interruptAfterTimeLimit: 20_000 }, timeoutMs: 60_000 };
};
