import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import { fieldValue, property } from "./field-rules.ts";

/** A request with one thing wrong with it. */
export interface Violation {
  /** Path of what is wrong, in proto spelling. */
  readonly path: string;
  /** What was done to it, in a few words. */
  readonly what: string;
  /** Reasons with which it is rightly refused. */
  readonly reasons: readonly string[];
  readonly request: object;
}

/** Where a value stands in a request. */
type Step = string | number;
/** Steps to the message at hand, and its path in proto spelling. */
interface Place {
  readonly steps: readonly Step[];
  readonly path: string;
}

/** Largest list that a request is filled up with: longer ones would not fit in a message. */
const maxFilledItems = 1_000;
/** No enum of the contract has it. */
const unknownEnumNumber = 9_999;

/** Reasons that say more of a field than that it is too long or unknown. */
const saidBetter: Readonly<Record<string, readonly string[]>> = {
  page_token: ["PAGE_TOKEN_INVALID"],
  "spec.class": ["CLASS_UNSUPPORTED"],
  "spec.requested_ips": ["FEATURE_UNSUPPORTED"],
  "spec.ports[0].protocol": ["PORT_PROTOCOL_UNSUPPORTED"],
};

/** A valid request, broken in each way that the rules of its fields forbid, one at a time. */
export const violations = (typeName: string, request: object): readonly Violation[] =>
  ofMessage(typeName, request, request, { steps: [], path: "" });

const ofMessage = (typeName: string, request: object, message: unknown, place: Place): readonly Violation[] =>
  (fieldRules[typeName] ?? []).flatMap((rule) => {
    const value = fieldValue(rule, message);
    const here: Place = {
      steps: [...place.steps, ...(rule.oneof === undefined ? [rule.jsonName] : [rule.oneof, "value"])],
      path: place.path === "" ? rule.name : `${place.path}.${rule.name}`,
    };
    return [...ofField(rule, request, value, here), ...ofInner(rule, request, value, here)];
  });

const ofInner = (rule: FieldRule, request: object, value: unknown, here: Place): readonly Violation[] => {
  if (rule.message === undefined || !(rule.message in fieldRules)) return [];
  if (rule.kind === "message") return value === undefined ? [] : ofMessage(rule.message, request, value, here);
  if (rule.kind !== "list" || !Array.isArray(value) || value.length === 0) return [];
  const first: unknown = value[0];
  return ofMessage(rule.message, request, first, { steps: [...here.steps, 0], path: `${here.path}[0]` });
};

const ofField = (rule: FieldRule, request: object, value: unknown, here: Place): readonly Violation[] => {
  const broken = (what: string, bad: unknown, reasons: readonly string[], index?: number): Violation => ({
    path: index === undefined ? here.path : `${here.path}[${index}]`,
    what,
    reasons: [...reasons, ...(saidBetter[here.path] ?? [])],
    request: replaced(request, here.steps, bad),
  });
  // A member of a oneof is only touched where it is chosen.
  if (rule.oneof !== undefined && value === undefined) return [];
  return [
    ...(rule.required === true && rule.oneof === undefined
      ? [broken("left out", undefined, ["FIELD_MISSING", "BATCH_EMPTY"])]
      : []),
    ...ofText(rule, broken),
    ...ofNumber(rule, value, here.path, broken),
    ...ofMany(rule, value, broken),
  ];
};

type Broken = (what: string, bad: unknown, reasons: readonly string[], index?: number) => Violation;

const ofText = (rule: FieldRule, broken: Broken): readonly Violation[] => {
  const out: Violation[] = [];
  const [wrap, index] = rule.kind === "list" ? [(bad: string) => [bad], 0] : [(bad: string) => bad, undefined];
  if (rule.maxBytes !== undefined) {
    const long = "x".repeat(rule.maxBytes + 1);
    out.push(broken(`of ${long.length} bytes`, wrap(long), ["FIELD_TOO_LARGE", "FIELD_INVALID"], index));
  }
  if (rule.format !== undefined) out.push(broken("in no right format", wrap("!"), ["FIELD_INVALID"], index));
  return out;
};

const ofNumber = (rule: FieldRule, value: unknown, path: string, broken: Broken): readonly Violation[] => {
  const out: Violation[] = [];
  // The kind of a node's address is a fact about the node, not a spec: EVO-3 is about specs.
  if (rule.kind === "enum" && value !== undefined && !path.includes("addresses["))
    out.push(broken(`with unknown number ${unknownEnumNumber}`, unknownEnumNumber, ["FIELD_INVALID"]));
  const { min, max } = rule;
  // One below the least is often 0: the wire format does not distinguish it from a missing value.
  if (min !== undefined && min - 1 !== 0) out.push(broken(`of ${min - 1}`, min - 1, ["FIELD_INVALID"]));
  if (max !== undefined && rule.kind === "scalar")
    out.push(broken(`of ${max + 1}`, max + 1, ["FIELD_INVALID", "FIELD_TOO_LARGE"]));
  return out;
};

const ofMany = (rule: FieldRule, value: unknown, broken: Broken): readonly Violation[] => {
  const tooMany = ["FIELD_TOO_LARGE", "BATCH_TOO_LARGE"];
  if (rule.kind === "list" && rule.maxItems !== undefined && rule.maxItems <= maxFilledItems) {
    const first: unknown = Array.isArray(value) ? value[0] : undefined;
    if (first === undefined) return [];
    const items = Array.from({ length: rule.maxItems + 1 }, (_, index) => distinct(first, index));
    return [broken(`with ${items.length} items`, items, tooMany)];
  }
  if (rule.kind === "map" && rule.maxTotalBytes !== undefined) {
    const key = Object.keys(typeof value === "object" && value !== null ? value : {})[0] ?? "conformance.example.com/x";
    return [broken("of too many bytes", { [key]: "x".repeat(rule.maxTotalBytes) }, tooMany)];
  }
  return [];
};

/** Two ports of one number would be wrong for another reason. */
const distinct = (item: unknown, index: number): unknown =>
  property(item, "port") === undefined ? item : { ...(typeof item === "object" ? item : {}), port: 1 + index };

/** A copy in which one place holds another value; undefined takes it out. */
const replaced = (value: unknown, [step, ...rest]: readonly Step[], bad: unknown): object => {
  if (step === undefined) throw new TypeError("a request is not replaced as a whole");
  const inner = property(value, String(step));
  const next = rest.length === 0 ? bad : replaced(inner, rest, bad);
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? next : item));
  return { ...(typeof value === "object" ? value : {}), [step]: next };
};
