import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import { isRecord, type Json } from "../../client/json.ts";
import type { Treatment, Treatments } from "./field-treatments.ts";

const PREFIX = "cloudprovider.v1.";

/** What is known of one field of a message. */
export interface Field {
  readonly name: string;
  readonly treatment: Treatment | undefined;
  /** Type of the message in it, or of the messages in its list or map; undefined: it holds none. */
  readonly message: string | undefined;
  readonly isMap: boolean;
}

/** Of whole messages, and of fields. */
export interface TreatmentTables {
  readonly messages: Treatments;
  readonly fields: Treatments;
}

/** The fields of a message by what the contract says of its type. One that the contract does not know is compared as it is. */
export function fieldOf(type: string, name: string, tables: TreatmentTables): Field {
  const rule: FieldRule | undefined = fieldRules[type]?.find(({ jsonName }) => jsonName === name);
  const message = rule?.message;
  const short = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type;
  const treatment = tables.fields[`${short}.${name}`] ?? (message === undefined ? undefined : tables.messages[message]);
  return { name, treatment, message, isMap: rule?.kind === "map" };
}

/** Gives the values of treated fields another value; undefined takes the field out. */
export type Change = (value: unknown, treatment: Treatment) => unknown;

/** The message with its treated fields changed, at any depth. */
export function changed(type: string, json: Json, tables: TreatmentTables, change: Change): Json {
  const entries = Object.entries(json).map(([key, value]) => {
    const field = fieldOf(type, key, tables);
    return [key, changedValue(field, value, tables, change)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function changedValue(field: Field, value: unknown, tables: TreatmentTables, change: Change): unknown {
  const { treatment, message } = field;
  if (treatment !== undefined) {
    return Array.isArray(value) && treatment.kind === "name"
      ? value.map((item: unknown) => change(item, treatment))
      : change(value, treatment);
  }
  if (message === undefined) return value;
  const inner = (item: unknown): unknown => (isRecord(item) ? changed(message, item, tables, change) : item);
  if (Array.isArray(value)) return value.map(inner);
  if (field.isMap && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
  }
  return inner(value);
}

/** JSON with the keys of each object in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
