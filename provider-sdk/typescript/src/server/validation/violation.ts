import type { ErrorReason } from "@cloudwire/proto/reasons";
import { ProviderError } from "../../results/errors.ts";
import { cutToBytes, maxMessageBytes } from "../../results/status.ts";

/** One thing wrong with a request. */
export interface Violation {
  readonly reason: ErrorReason;
  /** Path in proto spelling: `spec.ports[2].protocol`. */
  readonly field: string;
  readonly description: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The error for an invalid request, with all violations; its reason is that of the first. */
export const refusal = (method: string, violations: readonly Violation[]): ProviderError | undefined => {
  const [first] = violations;
  if (!first) return undefined;
  const list = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return new ProviderError(first.reason, cutToBytes(`${method} is refused: ${list}`, maxMessageBytes), {
    fieldViolations: violations,
    metadata: first.metadata,
  });
};

/** How ts-proto calls a number that an enum does not have. */
const unrecognized = -1;

/** True for a value that this SDK knows, 0 included. */
export const isKnownEnum = (values: Readonly<Record<string, number>>, value: number): boolean =>
  value !== unrecognized && Object.values(values).includes(value);

/** A spec with an unknown value must not be applied as another. Contract: EVO-3. */
export const unknownEnum = (field: string, value: number): Violation => ({
  reason: "FIELD_INVALID",
  field,
  description: `is ${value}, which this provider does not know`,
});
