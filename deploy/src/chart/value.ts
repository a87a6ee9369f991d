/** A JSON Schema, draft 7: what Helm checks values with. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** One of the chart's values. */
export interface Value {
  /** What it is for, in Markdown, as sentences. */
  readonly about: string;
  /** As in values.yaml. */
  readonly default: unknown;
  readonly schema: Schema;
  /** The fields of each of its items, where it is a list of objects. */
  readonly items?: Readonly<Record<string, Field>>;
}

/** A field of an item, which has no default in values.yaml. */
export interface Field {
  readonly about: string;
  readonly schema: Schema;
  readonly isRequired?: boolean;
}

/** Values, or groups of them, by their names. */
export interface Values {
  readonly [name: string]: Value | Values;
}

export const isValue = (node: Value | Values): node is Value => typeof node["about"] === "string";

/** An object that has these properties and no others. */
export const closed = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...(required.length > 0 && { required }),
});

export const TEXT: Schema = { type: "string" };
export const FILLED: Schema = { type: "string", minLength: 1 };
export const BOOLEAN: Schema = { type: "boolean" };
/** A name that leaves room for what is called after it. */
export const DNS_LABEL: Schema = { type: "string", pattern: "^[a-z]([-a-z0-9]{0,45}[a-z0-9])?$" };
export const PORT: Schema = { type: "integer", minimum: 1, maximum: 65_535 };
export const TEXTS: Schema = { type: "object", additionalProperties: TEXT };
export const oneOf = (...choices: readonly string[]): Schema => ({ type: "string", enum: choices });
export const listOf = (items: Schema): Schema => ({ type: "array", items });
