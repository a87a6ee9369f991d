import { errorDomain } from "@cloudwire/proto/reasons";
import type { Called } from "../endpoint/caller.ts";
import { outcomeLine, shorten } from "../endpoint/exchange.ts";
import { codeName, type WireError } from "../endpoint/status.ts";
import { CheckFailure, type Finding } from "./check.ts";

/** Ends the check with a finding. */
export const fail = (finding: Finding): never => {
  throw new CheckFailure(finding);
};

/** Any value as one readable line. */
export const show = (value: unknown): string =>
  shorten(
    JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item)) ?? "nothing",
    600,
  );

type Ok<Response> = Extract<Called<Response>, { readonly kind: "ok" }>;
type Failed<Response> = Extract<Called<Response>, { readonly kind: "error" }>;

/** The answer of a call that must succeed. */
export const expectOk = <Response>(called: Called<Response>, message: string): Ok<Response> =>
  called.kind === "ok"
    ? called
    : fail({ message, expected: "OK", got: outcomeLine(called), exchange: called.exchange });

/** What an error must be; what is left out is not looked at. */
export interface WantedError {
  readonly codes: readonly number[];
  /** Reasons of the contract, any of which is right. */
  readonly reasons?: readonly string[];
  /** A path that BadRequest must name. */
  readonly field?: string;
}

/** The error of a call that must be refused. */
export const expectError = <Response>(
  called: Called<Response>,
  wanted: WantedError,
  message: string,
): Failed<Response> => {
  if (called.kind !== "error")
    return fail({ message, expected: wantedLine(wanted), got: outcomeLine(called), exchange: called.exchange });
  const problem = errorProblem(called.error, wanted);
  if (problem !== undefined)
    fail({
      message: `${message}: ${problem}`,
      expected: wantedLine(wanted),
      got: `${outcomeLine(called)}${called.error.fields.length > 0 ? `; fields ${called.error.fields.join(", ")}` : ""}`,
      exchange: called.exchange,
    });
  return called;
};

/** Why an error is not the wanted one; undefined if it is. */
export const errorProblem = (error: WireError, wanted: WantedError): string | undefined => {
  if (!wanted.codes.includes(error.code)) return "the code is another";
  if (wanted.reasons !== undefined) {
    const [info] = error.infos;
    if (info === undefined) return "there is no ErrorInfo";
    if (info.domain !== errorDomain || !wanted.reasons.includes(info.reason)) return "the reason is another";
  }
  if (wanted.field !== undefined && !error.fields.includes(wanted.field)) return "BadRequest does not name the field";
  return undefined;
};

const wantedLine = ({ codes, reasons, field }: WantedError): string =>
  [
    codes.map(codeName).join(" or "),
    ...(reasons === undefined ? [] : [`with reason ${reasons.join(" or ")}`]),
    ...(field === undefined ? [] : [`and field ${field}`]),
  ].join(" ");

/** Fails unless the list of problems is empty; the first few are reported. */
export const expectNone = (problems: readonly string[], message: string, more: Partial<Finding> = {}): void => {
  if (problems.length === 0) return;
  const reported = problems.slice(0, 8);
  const rest = problems.length - reported.length;
  fail({ ...more, message, got: [...reported, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n") });
};
