import type { Exchange } from "../endpoint/exchange.ts";

/** What a check found. */
export interface Finding {
  /** One sentence: what is wrong. */
  readonly message: string;
  readonly expected?: string;
  readonly got?: string;
  /** The call that shows it. */
  readonly exchange?: Exchange;
}

/** Thrown by a check: the provider does not keep the rule. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.message);
    this.finding = finding;
  }
}

/** Thrown by a check that finds that it has nothing to judge, or may not do what it needs. */
export class CheckSkipped extends Error {
  override readonly name = "CheckSkipped";
  readonly reason: "capability" | "limit";

  constructor(message: string, reason: "capability" | "limit" = "capability") {
    super(message);
    this.reason = reason;
  }
}
