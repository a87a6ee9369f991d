import type { CheckResult, Report } from "./report.ts";

const auth = "inst.absent.auth";
const outage = "inst.absent.outage";

/**
 * Whether anybody has seen that the provider calls no machine absent while the cloud refuses its credentials, or is away. It is what a user's machines
 * hang on, and told of every provider of machines, also where nobody looked. Undefined: it is none.
 */
export const absenceLine = ({ provider, results }: Pick<Report, "provider" | "results">): string | undefined => {
  if (!provider.capabilities.includes("instances")) return undefined;
  return `absence under refused credentials: ${tested(results, auth)}, under an outage: ${tested(results, outage)}`;
};

/** A check that passed or failed has looked. */
const tested = (results: readonly CheckResult[], wanted: string): string => {
  const kind = results.find(({ id }) => id === wanted)?.verdict.kind;
  if (kind === "pass") return "tested";
  return kind === "fail" || kind === "known-fail" || kind === "flaky" ? "tested, and wrong" : "NOT tested";
};
