import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";

type Rules = Readonly<Record<string, readonly FieldRule[]>>;

/** What stands where a secret was. */
const HIDDEN = "***";

/**
 * Which fields of one message are longer or more than the contract allows, as `field: why`. Fields of messages within it are
 * not looked at. A batch with one such item is refused whole, so the item is kept back.
 */
export function overLimit(messageName: string, message: object, rules: Rules = fieldRules): readonly string[] {
  const byName = new Map(Object.entries(message));
  return (rules[messageName] ?? []).flatMap((rule) => {
    const problem = limitProblem(rule, byName.get(rule.jsonName));
    return problem === undefined ? [] : [`${rule.name}: ${problem}`];
  });
}

/** The message as JSON to be written down, without the values of fields marked sensitive. */
export function withoutSecrets(messageName: string, json: unknown, rules: Rules = fieldRules): unknown {
  const messageRules = rules[messageName];
  if (messageRules === undefined || !isObject(json)) return json;
  const byName = new Map(messageRules.map((rule) => [rule.jsonName, rule]));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, shown(byName.get(key), value, rules)]));
}

function shown(rule: FieldRule | undefined, value: unknown, rules: Rules): unknown {
  if (rule?.sensitive === true) return HIDDEN;
  const { message: name } = rule ?? {};
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(name, item, rules));
  if (rule?.kind === "map" && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSecrets(name, item, rules)]));
  }
  return withoutSecrets(name, value, rules);
}

function limitProblem(rule: FieldRule, value: unknown): string | undefined {
  if (typeof value === "string") return tooLong(value, rule.maxBytes);
  if (Array.isArray(value)) return listProblem(value, rule);
  if (rule.kind === "map" && isObject(value)) return mapProblem(value, rule);
  return undefined;
}

function listProblem(items: readonly unknown[], { maxItems, maxBytes }: FieldRule): string | undefined {
  if (maxItems !== undefined && items.length > maxItems) return `${items.length} items, ${maxItems} allowed`;
  for (const item of items) {
    const problem = typeof item === "string" ? tooLong(item, maxBytes) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function mapProblem(map: object, { maxTotalBytes, maxItems }: FieldRule): string | undefined {
  const entries = Object.entries(map);
  if (maxItems !== undefined && entries.length > maxItems) return `${entries.length} entries, ${maxItems} allowed`;
  if (maxTotalBytes === undefined) return undefined;
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return bytes > maxTotalBytes ? `${bytes} bytes, ${maxTotalBytes} allowed` : undefined;
}

function tooLong(text: string, maxBytes: number | undefined): string | undefined {
  const bytes = Buffer.byteLength(text);
  return maxBytes !== undefined && bytes > maxBytes ? `${bytes} bytes, ${maxBytes} allowed` : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
