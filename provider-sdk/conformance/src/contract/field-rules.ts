import { isIP } from "node:net";
import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";

/** Where a message breaks a rule of the contract: `results[2].outcome.instance.name: is longer than 253 bytes`. */
export const ruleProblems = (typeName: string, message: unknown, path = ""): readonly string[] =>
  (fieldRules[typeName] ?? []).flatMap((rule) => fieldProblems(rule, message, path));

/** What a field holds; a member of a oneof only when it is the chosen one. */
export const fieldValue = (rule: FieldRule, message: unknown): unknown => {
  if (rule.oneof === undefined) return property(message, rule.jsonName);
  const chosen = property(message, rule.oneof);
  return property(chosen, "$case") === rule.jsonName ? property(chosen, "value") : undefined;
};

/** A property of something that may not be an object. */
export const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

const fieldProblems = (rule: FieldRule, message: unknown, parent: string): readonly string[] => {
  const path = parent === "" ? rule.name : `${parent}.${rule.name}`;
  const value = fieldValue(rule, message);
  if (isEmpty(value)) return rule.required === true && rule.oneof === undefined ? [`${path} is missing`] : [];
  const { message: inner } = rule;
  switch (rule.kind) {
    case "list": {
      if (!Array.isArray(value)) return [];
      const problems = value.flatMap((item, index) =>
        inner === undefined
          ? scalarProblems(rule, item, `${path}[${index}]`)
          : ruleProblems(inner, item, `${path}[${index}]`),
      );
      return rule.maxItems !== undefined && value.length > rule.maxItems
        ? [`${path} has ${value.length} items, at most ${rule.maxItems} are allowed`, ...problems]
        : problems;
    }
    case "map":
      return mapProblems(rule, value, path);
    case "message":
      return inner === undefined ? [] : ruleProblems(inner, value, path);
    case "scalar":
    case "enum":
      return scalarProblems(rule, value, path);
  }
  return rule.kind satisfies never;
};

/** What proto3 does not send. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === "" ||
  value === 0 ||
  value === 0n ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

const mapProblems = (rule: FieldRule, value: unknown, path: string): readonly string[] => {
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  const bytes = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(text)), 0);
  return [
    ...(rule.maxItems !== undefined && entries.length > rule.maxItems ? [`${path} has ${entries.length} entries`] : []),
    ...(rule.maxTotalBytes !== undefined && bytes > rule.maxTotalBytes ? [`${path} has ${bytes} bytes`] : []),
  ];
};

const scalarProblems = (rule: FieldRule, value: unknown, path: string): readonly string[] => {
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(value);
    if (rule.maxBytes !== undefined && bytes > rule.maxBytes)
      return [`${path} has ${bytes} bytes, at most ${rule.maxBytes} are allowed`];
    return rule.format !== undefined && !formats[rule.format](value)
      ? [`${path} is ${JSON.stringify(value)}, which is no ${rule.format}`]
      : [];
  }
  if (typeof value !== "number" && typeof value !== "bigint") return [];
  const number = Number(value);
  const below = rule.min !== undefined && number < rule.min;
  const above = rule.max !== undefined && number > rule.max;
  return below || above ? [`${path} is ${number}, outside ${rule.min ?? "any"} to ${rule.max ?? "any"}`] : [];
};

const isCidr = (text: string): boolean => {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
};

const dnsLabel = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether a text has a format of the contract. */
export const formats: Readonly<Record<NonNullable<FieldRule["format"]>, (text: string) => boolean>> = {
  IP: (text) => isIP(text) !== 0,
  CIDR: isCidr,
  DNS_NAME: (text) => text.length <= 253 && text.split(".").every((label) => dnsLabel.test(label)),
  PROVIDER_ID: (text) => /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/.+$/s.test(text),
};
