import type { Violation } from "./violation.ts";

/** How ts-proto calls a number that an enum does not have. */
const unrecognized = -1;

/** True for a value that this SDK knows, 0 included. */
export const isKnownEnum = (values: Readonly<Record<string, number>>, value: number): boolean =>
  value !== unrecognized && Object.values(values).includes(value);

/** A wish that is not understood must not be carried out as another. Contract: EVO-3. */
export const unknownEnum = (field: string, value: number): Violation => ({
  reason: "FIELD_INVALID",
  field,
  description: `is ${value}, which this provider does not know`,
});
