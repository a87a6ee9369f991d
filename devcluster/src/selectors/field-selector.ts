import { badRequest } from "../api-error.ts";
import type { StringMap } from "../object.ts";

interface Requirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** Whether the selectable fields of an object satisfy a selector. */
export type FieldPredicate = (fields: StringMap) => boolean;

/**
 * Parses `metadata.name=a,spec.type!=b`; throws ApiError 400 on anything else and on a field that the kind does not offer. Undefined selects
 * everything.
 */
export function parseFieldSelector(text: string, supported: readonly string[]): FieldPredicate | undefined {
  const requirements = splitTerms(text)
    .filter((term) => term !== "")
    .map((term) => parseTerm(term, text));
  for (const { field } of requirements) {
    if (!supported.includes(field)) throw unsupported(field, supported);
  }
  if (requirements.length === 0) return undefined;
  return (fields) => requirements.every(({ field, equal, value }) => ((fields[field] ?? "") === value) === equal);
}

/** The real server has one answer for kinds with fields of their own and another for the rest. */
function unsupported(field: string, supported: readonly string[]): Error {
  if (supported.some((known) => !known.startsWith("metadata.")))
    return badRequest(`field label not supported: ${field}`);
  const known = ["metadata.name", "metadata.namespace"].map((name) => JSON.stringify(name)).join(", ");
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
}

/** Splits at commas that no backslash protects. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let term = "";
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    if (character === "\\") {
      term += character + (text[index + 1] ?? "");
      index += 1;
    } else if (character === ",") {
      terms.push(term);
      term = "";
    } else {
      term += character;
    }
  }
  return [...terms, term];
}

function parseTerm(term: string, selector: string): Requirement {
  const match = /^((?:[^\\=!]|\\.)*?)(!=|==|=)(.*)$/s.exec(term);
  const [, field, operator, value] = match ?? [];
  if (field === undefined || operator === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  }
  return { field, equal: operator !== "!=", value: unescape(value) };
}

function unescape(value: string): string {
  return value.replaceAll(/\\([\\,=])/g, "$1");
}
