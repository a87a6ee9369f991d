import { type FieldRule, fieldRules } from "../gen/rules.ts";

/** Of the fields of messages, by the full name of the message. */
export type FieldRules = Readonly<Record<string, readonly Omit<FieldRule, "number">[]>>;

/** Placeholder of a redacted secret. */
export const HIDDEN = "***";

/** Returns the message as JSON for logs and recordings, with fields marked sensitive redacted. */
export const withoutSecrets = (messageName: string, json: unknown, rules: FieldRules = fieldRules): unknown => {
  const messageRules = rules[messageName];
  if (messageRules === undefined || !isObject(json)) return json;
  const byName = new Map(messageRules.map((rule) => [rule.jsonName, rule]));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, shown(byName.get(key), value, rules)]));
};

const shown = (rule: FieldRules[string][number] | undefined, value: unknown, rules: FieldRules): unknown => {
  if (rule?.sensitive === true) return HIDDEN;
  const { message: name } = rule ?? {};
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(name, item, rules));
  if (rule?.kind === "map" && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSecrets(name, item, rules)]));
  }
  return withoutSecrets(name, value, rules);
};

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
