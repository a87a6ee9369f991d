import type { FieldSpec, TypeTable } from "./types.ts";

/** The scalars that the table names; those with a capital have a JSON form of their own. */
export const scalarNames = [
  "string",
  "bool",
  "int32",
  "int64",
  "Time",
  "MicroTime",
  "Quantity",
  "IntOrString",
  "bytes",
  "Raw",
] as const;
export type ScalarName = (typeof scalarNames)[number];

/** What a JSON value has to look like. */
export type Shape =
  | { readonly kind: "scalar"; readonly name: ScalarName }
  | { readonly kind: "list"; readonly element: Shape }
  | { readonly kind: "map"; readonly value: Shape }
  | { readonly kind: "struct"; readonly name: string; readonly fields: () => ReadonlyMap<string, Field> };

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly spec: FieldSpec;
}

/** Looks up shapes by type expression; each is built once. */
export interface Schema {
  readonly shape: (type: string) => Shape;
}

/** Builds the shapes of a table on demand, since structs refer to themselves and most are never asked for. */
export function createSchema(table: TypeTable): Schema {
  const known = new Map<string, Shape>();
  const shape = (type: string): Shape => {
    const existing = known.get(type);
    if (existing !== undefined) return existing;
    const built = build(type, table, shape);
    known.set(type, built);
    return built;
  };
  return { shape };
}

function build(type: string, table: TypeTable, shape: Schema["shape"]): Shape {
  const scalar = scalarNames.find((name) => name === type);
  if (scalar !== undefined) return { kind: "scalar", name: scalar };
  if (type.startsWith("[]")) return { kind: "list", element: shape(type.slice(2)) };
  if (type.startsWith("{}")) return { kind: "map", value: shape(type.slice(2)) };
  const specs = table[type];
  if (specs === undefined) throw new Error(`the type table has no type ${type}: renew it with schema-gen`);
  let fields: ReadonlyMap<string, Field> | undefined;
  return {
    kind: "struct",
    name: type,
    fields: () => {
      fields ??= new Map(
        Object.entries(specs).map(([name, spec]) => [name, { name, spec, shape: shape(spec.type) }] as const),
      );
      return fields;
    },
  };
}
