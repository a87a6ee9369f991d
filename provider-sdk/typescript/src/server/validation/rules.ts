import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import { formatProblem, wellKnownProblems } from "./formats.ts";
import type { Violation } from "./violation.ts";

/** A rule with everything that checking needs, and nothing for fields without rules. */
interface CompiledRule extends FieldRule {
  /** Rules of the message in the field, or of those in the list. */
  readonly inner: CompiledMessage | undefined;
  /** The check of a well-known type's value; undefined if the field has none. */
  readonly problemOf: ((value: unknown) => string | undefined) | undefined;
}

/** Rules of one message; a box, because messages may hold themselves. */
interface CompiledMessage {
  rules: readonly CompiledRule[];
}

/** Most violations in one response; more would not fit. */
const maxViolations = 64;

/** Checks messages by the rules that the contract states beside its fields. */
export class RuleChecker {
  readonly #messages = new Map<string, CompiledMessage>();

  /** Every rule broken by a message of this full name, with paths in proto spelling. */
  check(typeName: string, message: unknown): readonly Violation[] {
    const violations: Violation[] = [];
    checkMessage(this.#compile(typeName), message, violations);
    return violations;
  }

  #compile(typeName: string): CompiledMessage {
    const known = this.#messages.get(typeName);
    if (known) return known;
    const compiled: CompiledMessage = { rules: [] };
    this.#messages.set(typeName, compiled);
    compiled.rules = (fieldRules[typeName] ?? [])
      .map((rule) => ({ ...rule, inner: this.#inner(rule.message), problemOf: wellKnownProblems[rule.message ?? ""] }))
      .filter(hasWork);
    return compiled;
  }

  #inner(typeName: string | undefined): CompiledMessage | undefined {
    if (typeName === undefined || !(typeName in fieldRules)) return undefined;
    const compiled = this.#compile(typeName);
    return compiled.rules.length > 0 ? compiled : undefined;
  }
}

const hasWork = (rule: CompiledRule): boolean =>
  rule.inner !== undefined ||
  rule.problemOf !== undefined ||
  rule.required === true ||
  [rule.maxBytes, rule.maxItems, rule.maxTotalBytes, rule.min, rule.max, rule.format].some(
    (limit) => limit !== undefined,
  );

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

const checkMessage = (compiled: CompiledMessage, message: unknown, out: Violation[]): void => {
  for (const rule of compiled.rules) {
    if (out.length >= maxViolations) return;
    checkField(rule, fieldValue(rule, message), rule.name, out);
  }
};

/** Paths grow on the way out, so that what is in order, nearly everything, costs none. */
const within = (path: string, from: number, out: Violation[]): void => {
  for (let index = from; index < out.length; index++) {
    const violation = out[index];
    if (violation) out[index] = { ...violation, field: `${path}.${violation.field}` };
  }
};

const checkInner = (inner: CompiledMessage, message: unknown, out: Violation[], path: () => string): void => {
  const before = out.length;
  checkMessage(inner, message, out);
  if (out.length > before) within(path(), before, out);
};

const fieldValue = (rule: FieldRule, message: unknown): unknown => {
  if (rule.oneof === undefined) return property(message, rule.jsonName);
  const chosen = property(message, rule.oneof);
  return property(chosen, "$case") === rule.jsonName ? property(chosen, "value") : undefined;
};

const checkField = (rule: CompiledRule, value: unknown, path: string, out: Violation[]): void => {
  if (isEmpty(value)) {
    // A member of a oneof that is not chosen is no missing field.
    if (rule.required && rule.oneof === undefined)
      out.push({ reason: "FIELD_MISSING", field: path, description: "is required" });
    else if (value === 0 || value === 0n) checkRange(rule, Number(value), path, out);
    return;
  }
  switch (rule.kind) {
    case "scalar":
    case "enum":
      checkScalar(rule, value, path, out);
      return;
    case "message":
      if (rule.inner) checkInner(rule.inner, value, out, () => path);
      else checkWellKnown(rule, value, path, out);
      return;
    case "list":
      if (Array.isArray(value)) checkList(rule, value, path, out);
      return;
    case "map":
      checkMap(rule, value, path, out);
      return;
    default:
      rule.kind satisfies never;
  }
};

const checkWellKnown = ({ problemOf }: CompiledRule, value: unknown, path: string, out: Violation[]): void => {
  const problem = problemOf?.(value);
  if (problem !== undefined) out.push({ reason: "FIELD_INVALID", field: path, description: problem });
};

/** The default value in proto3, which cannot be distinguished from an unset field. */
const isEmpty = (value: unknown): boolean => {
  if (value === undefined || value === "" || value === 0 || value === 0n) return true;
  if (Array.isArray(value) || Buffer.isBuffer(value)) return value.length === 0;
  return false;
};

const checkScalar = (rule: CompiledRule, value: unknown, path: string, out: Violation[]): void => {
  if (typeof value === "string") checkText(rule, value, path, out);
  else if (Buffer.isBuffer(value)) checkBytes(rule.maxBytes, value.length, path, out);
  else if (typeof value === "number" || typeof value === "bigint") checkRange(rule, Number(value), path, out);
};

const checkText = (rule: CompiledRule, text: string, path: string, out: Violation[]): void => {
  // No text has more than three bytes of UTF-8 a UTF-16 unit: most need no counting.
  if (rule.maxBytes !== undefined && text.length * 3 > rule.maxBytes)
    checkBytes(rule.maxBytes, Buffer.byteLength(text), path, out);
  if (rule.format === undefined) return;
  const problem = formatProblem(rule.format, text);
  if (problem !== undefined) out.push({ reason: "FIELD_INVALID", field: path, description: problem });
};

const checkBytes = (maxBytes: number | undefined, bytes: number, path: string, out: Violation[]): void => {
  if (maxBytes !== undefined && bytes > maxBytes)
    out.push({
      reason: "FIELD_TOO_LARGE",
      field: path,
      description: `has ${bytes} bytes; at most ${maxBytes} are allowed`,
    });
};

const checkRange = (rule: CompiledRule, value: number, path: string, out: Violation[]): void => {
  if (rule.min !== undefined && value < rule.min)
    out.push({ reason: "FIELD_INVALID", field: path, description: `is ${value}; the least is ${rule.min}` });
  if (rule.max !== undefined && value > rule.max)
    out.push({ reason: "FIELD_INVALID", field: path, description: `is ${value}; the most is ${rule.max}` });
};

const checkList = (rule: CompiledRule, items: readonly unknown[], path: string, out: Violation[]): void => {
  if (rule.maxItems !== undefined && items.length > rule.maxItems) {
    out.push(tooMany(path, items.length, rule.maxItems));
    return;
  }
  if (!rule.inner && rule.maxBytes === undefined && rule.format === undefined) return;
  for (const [index, item] of items.entries()) {
    if (out.length >= maxViolations) return;
    if (rule.inner) checkInner(rule.inner, item, out, () => `${path}[${index}]`);
    else checkScalar(rule, item, `${path}[${index}]`, out);
  }
};

const tooMany = (field: string, items: number, maxItems: number): Violation => ({
  reason: "FIELD_TOO_LARGE",
  field,
  description: `has ${items} items; at most ${maxItems} are allowed`,
});

const checkMap = (rule: CompiledRule, value: unknown, path: string, out: Violation[]): void => {
  if (typeof value !== "object" || value === null) return;
  const entries = Object.entries(value);
  if (rule.maxItems !== undefined && entries.length > rule.maxItems) {
    out.push(tooMany(path, entries.length, rule.maxItems));
    return;
  }
  if (rule.maxTotalBytes === undefined) return;
  const total = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(text)), 0);
  checkBytes(rule.maxTotalBytes, total, path, out);
};
