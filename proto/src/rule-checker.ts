import { type FieldRule, fieldRules } from "../gen/rules.ts";
import { formatProblem, wellKnownProblems } from "./formats.ts";
import { addressProblem, hasControlCharacters } from "./response-texts.ts";

/** A field that breaks a rule. */
export interface BrokenRule {
  readonly reason: "FIELD_MISSING" | "FIELD_TOO_LARGE" | "FIELD_INVALID";
  /** Path in proto spelling: `spec.ports[2].protocol`. */
  readonly field: string;
  readonly description: string;
}

/** A rule with everything that checking needs, and nothing for fields without rules. */
interface CompiledRule extends FieldRule {
  /** Rules of the message in the field, or of those in the list. */
  readonly inner: CompiledMessage | undefined;
  /** The check of a well-known type's value; undefined if the field has none. */
  readonly problemOf: ((value: unknown) => string | undefined) | undefined;
}

/** Rules of one message; a box, because messages may hold themselves. */
interface CompiledMessage {
  readonly isNodeAddress: boolean;
  rules: readonly CompiledRule[];
}

/** Most violations in one response; more would not fit. */
const maxViolations = 64;

/** What applies to a response only. */
export interface ResponseCheck {
  /** Milliseconds since 1970: times that must be in the past are not later. */
  readonly latestMs: number;
  /** Fields that are not checked, because the caller checks their items. */
  readonly except?: ReadonlySet<string> | undefined;
  /** Only sizes and control characters are checked, because the receiver has defaults for missing and wrong values. */
  readonly isLenient?: boolean;
}

/** What has been found so far. */
interface Findings {
  readonly list: BrokenRule[];
  readonly response: ResponseCheck | undefined;
}

/** Checks messages by the rules that the contract states beside its fields. */
export class RuleChecker {
  readonly #messages = new Map<string, CompiledMessage>();

  /** Every rule broken by a message of this full name, with paths in proto spelling. @param response undefined: it is no response */
  check(typeName: string, message: unknown, response?: ResponseCheck): readonly BrokenRule[] {
    const found: Findings = { list: [], response };
    const compiled = this.#compile(typeName);
    const rules = compiled.rules.filter(({ name }) => response?.except?.has(name) !== true);
    checkMessage({ ...compiled, rules }, message, found);
    return found.list;
  }

  #compile(typeName: string): CompiledMessage {
    const known = this.#messages.get(typeName);
    if (known) return known;
    const compiled: CompiledMessage = { isNodeAddress: typeName === nodeAddress, rules: [] };
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

const nodeAddress = "cloudprovider.v1.NodeAddress";

const hasWork = (rule: CompiledRule): boolean =>
  rule.inner !== undefined ||
  rule.problemOf !== undefined ||
  rule.required === true ||
  [rule.maxBytes, rule.maxItems, rule.maxTotalBytes, rule.min, rule.max, rule.format].some(
    (limit) => limit !== undefined,
  );

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

const checkMessage = (compiled: CompiledMessage, message: unknown, out: Findings): void => {
  for (const rule of compiled.rules) {
    if (out.list.length >= maxViolations) return;
    checkField(rule, fieldValue(rule, message), rule.name, out);
  }
  if (!compiled.isNodeAddress || out.response === undefined) return;
  const problem = addressProblem(message);
  if (problem !== undefined) out.list.push({ reason: "FIELD_INVALID", field: "address", description: problem });
};

/** Paths grow on the way out, so that what is in order, nearly everything, costs none. */
const within = (path: string, from: number, out: Findings): void => {
  for (let index = from; index < out.list.length; index++) {
    const violation = out.list[index];
    if (violation) out.list[index] = { ...violation, field: `${path}.${violation.field}` };
  }
};

const checkInner = (inner: CompiledMessage, message: unknown, out: Findings, path: () => string): void => {
  const before = out.list.length;
  checkMessage(inner, message, out);
  if (out.list.length > before) within(path(), before, out);
};

const fieldValue = (rule: FieldRule, message: unknown): unknown => {
  if (rule.oneof === undefined) return property(message, rule.jsonName);
  const chosen = property(message, rule.oneof);
  return property(chosen, "$case") === rule.jsonName ? property(chosen, "value") : undefined;
};

/** Whether a field must not be empty. A member of a oneof that is not chosen is no missing field. */
const isMissing = ({ required, oneof, kind }: CompiledRule, response: ResponseCheck | undefined): boolean => {
  if (required !== true || oneof !== undefined) return false;
  // In a response, an unspecified number of an enum has its documented meaning. Contract: EVO-3.
  return response === undefined || (response.isLenient !== true && kind !== "enum");
};

const checkField = (rule: CompiledRule, value: unknown, path: string, out: Findings): void => {
  if (isEmpty(value)) {
    if (isMissing(rule, out.response))
      out.list.push({ reason: "FIELD_MISSING", field: path, description: "is required" });
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

const checkWellKnown = (rule: CompiledRule, value: unknown, path: string, out: Findings): void => {
  const problem = rule.problemOf?.(value) ?? futureProblem(rule, value, out.response);
  if (problem !== undefined) out.list.push({ reason: "FIELD_INVALID", field: path, description: problem });
};

const futureProblem = (rule: CompiledRule, value: unknown, response: ResponseCheck | undefined): string | undefined =>
  rule.past === true && response !== undefined && value instanceof Date && value.getTime() > response.latestMs
    ? "is in the future"
    : undefined;

/** The default value in proto3, which cannot be distinguished from an unset field. */
const isEmpty = (value: unknown): boolean => {
  if (value === undefined || value === "" || value === 0 || value === 0n) return true;
  if (Array.isArray(value) || Buffer.isBuffer(value)) return value.length === 0;
  return false;
};

const checkScalar = (rule: CompiledRule, value: unknown, path: string, out: Findings): void => {
  if (typeof value === "string") checkText(rule, value, path, out);
  else if (Buffer.isBuffer(value)) checkBytes(rule.maxBytes, value.length, path, out);
  else if (typeof value === "number" || typeof value === "bigint") checkRange(rule, Number(value), path, out);
};

const checkText = (rule: CompiledRule, text: string, path: string, out: Findings): void => {
  // No text has more than three bytes of UTF-8 a UTF-16 unit: most need no counting.
  if (rule.maxBytes !== undefined && text.length * 3 > rule.maxBytes)
    checkBytes(rule.maxBytes, Buffer.byteLength(text), path, out);
  if (out.response !== undefined && hasControlCharacters(text))
    out.list.push({ reason: "FIELD_INVALID", field: path, description: "has control characters" });
  if (rule.format === undefined || out.response?.isLenient === true) return;
  const problem = formatProblem(rule.format, text);
  if (problem !== undefined) out.list.push({ reason: "FIELD_INVALID", field: path, description: problem });
};

const checkBytes = (maxBytes: number | undefined, bytes: number, path: string, out: Findings): void => {
  if (maxBytes !== undefined && bytes > maxBytes)
    out.list.push({
      reason: "FIELD_TOO_LARGE",
      field: path,
      description: `has ${bytes} bytes; at most ${maxBytes} are allowed`,
    });
};

const checkRange = (rule: CompiledRule, value: number, path: string, out: Findings): void => {
  if (out.response?.isLenient === true) return;
  if (rule.min !== undefined && value < rule.min)
    out.list.push({ reason: "FIELD_INVALID", field: path, description: `is ${value}; the least is ${rule.min}` });
  if (rule.max !== undefined && value > rule.max)
    out.list.push({ reason: "FIELD_INVALID", field: path, description: `is ${value}; the most is ${rule.max}` });
};

const checkList = (rule: CompiledRule, items: readonly unknown[], path: string, out: Findings): void => {
  if (rule.maxItems !== undefined && items.length > rule.maxItems) {
    out.list.push(tooMany(path, items.length, rule.maxItems));
    return;
  }
  if (!rule.inner && rule.maxBytes === undefined && rule.format === undefined) return;
  for (const [index, item] of items.entries()) {
    if (out.list.length >= maxViolations) return;
    if (rule.inner) checkInner(rule.inner, item, out, () => `${path}[${index}]`);
    else checkScalar(rule, item, `${path}[${index}]`, out);
  }
};

const tooMany = (field: string, items: number, maxItems: number): BrokenRule => ({
  reason: "FIELD_TOO_LARGE",
  field,
  description: `has ${items} items; at most ${maxItems} are allowed`,
});

const checkMap = (rule: CompiledRule, value: unknown, path: string, out: Findings): void => {
  if (typeof value !== "object" || value === null) return;
  const entries = Object.entries(value);
  if (rule.maxItems !== undefined && entries.length > rule.maxItems) {
    out.list.push(tooMany(path, entries.length, rule.maxItems));
    return;
  }
  if (out.response !== undefined && entries.some(([key, text]) => hasControlCharacters(`${key}${String(text)}`)))
    out.list.push({ reason: "FIELD_INVALID", field: path, description: "has control characters" });
  if (rule.maxTotalBytes === undefined) return;
  const total = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(text)), 0);
  checkBytes(rule.maxTotalBytes, total, path, out);
};
