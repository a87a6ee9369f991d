import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import type { FieldRules } from "@cloudwire/proto/secrets";
import { contractError, type ProviderError } from "../model/errors.ts";

/** A field that does not keep to the contract. */
export interface BrokenRule {
  readonly reason: "FIELD_MISSING" | "FIELD_TOO_LARGE" | "FIELD_INVALID";
  /** Path in proto field syntax: `addresses[0].address`. */
  readonly field: string;
  readonly description: string;
}

/**
 * Which fields of a message that is to be sent, or of those within it, the contract does not allow. Formats are the receiver's to
 * judge. A batch with one such item is refused whole, so the item is kept back.
 */
export function brokenRules(
  messageName: string,
  message: object,
  rules: FieldRules = fieldRules,
): readonly BrokenRule[] {
  const byName = new Map(Object.entries(message));
  return (rules[messageName] ?? []).flatMap((rule) => {
    const problems = fieldProblems(rule, fieldValue(rule, byName), rules);
    return problems.map(({ field, ...problem }) => ({ ...problem, field: `${rule.name}${field}` }));
  });
}

/** {@link brokenRules} of one item of a batch as the error that it is answered with; undefined: it may be sent. */
export function brokenItem(messageName: string, item: object, what: string): ProviderError | undefined {
  const broken = brokenRules(messageName, item);
  const [first] = broken;
  if (first === undefined) return undefined;
  const problems = broken.map(({ field, description }) => `${field}: ${description}`);
  return contractError(first.reason, `${what}: ${problems.join("; ")}`, { fieldViolations: broken });
}

/** Limits of one field, for what can be cut down to them before it is sent. */
export function limitsOf(
  messageName: string,
  fieldName: string,
): { readonly maxBytes: number; readonly maxItems: number } {
  const rule = fieldRules[messageName]?.find(({ name }) => name === fieldName);
  return { maxBytes: rule?.maxBytes ?? Infinity, maxItems: rule?.maxItems ?? Infinity };
}

/** A member of a oneof stands in `oneof: { $case, value }`. */
function fieldValue({ oneof, jsonName }: FieldRule, byName: ReadonlyMap<string, unknown>): unknown {
  if (oneof === undefined) return byName.get(jsonName);
  const chosen = byName.get(oneof);
  if (!isObject(chosen) || !("$case" in chosen) || chosen.$case !== jsonName) return undefined;
  return "value" in chosen ? chosen.value : undefined;
}

/** `field` of the answers continues the path of the field itself. */
function fieldProblems(rule: FieldRule, value: unknown, rules: FieldRules): readonly BrokenRule[] {
  if (isEmpty(value) && rule.oneof === undefined && rule.required === true) {
    return [{ reason: "FIELD_MISSING", field: "", description: "missing" }];
  }
  if (typeof value === "string") return tooMuch("bytes", Buffer.byteLength(value), rule.maxBytes);
  if (typeof value === "number") return outOfRange(value, rule);
  if (Array.isArray(value)) return listProblems(value, rule, rules);
  if (!isObject(value)) return [];
  if (rule.kind === "map") return mapProblems(value, rule);
  return rule.message === undefined ? [] : inner(brokenRules(rule.message, value, rules), "");
}

function listProblems(items: readonly unknown[], rule: FieldRule, rules: FieldRules): readonly BrokenRule[] {
  const { message, maxItems, maxBytes } = rule;
  const tooMany = tooMuch("items", items.length, maxItems);
  if (tooMany.length > 0) return tooMany;
  return items.flatMap((item, index) => {
    if (typeof item === "string") return inner(tooMuch("bytes", Buffer.byteLength(item), maxBytes), `[${index}]`, "");
    return message === undefined || !isObject(item) ? [] : inner(brokenRules(message, item, rules), `[${index}]`);
  });
}

function mapProblems(map: object, { maxTotalBytes, maxItems }: FieldRule): readonly BrokenRule[] {
  const entries = Object.entries(map);
  const tooMany = tooMuch("entries", entries.length, maxItems);
  if (tooMany.length > 0 || maxTotalBytes === undefined) return tooMany;
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return tooMuch("bytes", bytes, maxTotalBytes);
}

function inner(problems: readonly BrokenRule[], prefix: string, dot = "."): readonly BrokenRule[] {
  return problems.map((problem) => ({ ...problem, field: `${prefix}${dot}${problem.field}` }));
}

function tooMuch(unit: string, count: number, allowed: number | undefined): readonly BrokenRule[] {
  if (allowed === undefined || count <= allowed) return [];
  return [{ reason: "FIELD_TOO_LARGE", field: "", description: `${count} ${unit}, ${allowed} allowed` }];
}

function outOfRange(value: number, { min, max }: FieldRule): readonly BrokenRule[] {
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return [];
  const range = `${min ?? "any"} to ${max ?? "any"} allowed`;
  return [{ reason: "FIELD_INVALID", field: "", description: `${value}, ${range}` }];
}

/** What proto3 cannot tell from a field that is not there. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
