import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";

/** A value of the wanted form, or everything that is wrong, one line each. */
export type Checked<Form> =
  | { readonly kind: "value"; readonly value: Form }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** Validates external data against a schema and reports all problems with their paths: `pools[0].ranges: must be array`. */
export function checked<Schema extends TSchema>(schema: Schema, data: unknown): Checked<Static<Schema>> {
  if (Value.Check(schema, data)) return { kind: "value", value: data };
  const problems = [...Value.Errors(schema, data)]
    // For each unknown property there is a second error about its object.
    .filter(({ keyword }) => keyword !== "additionalProperties")
    .map(({ keyword, instancePath, message }) => {
      const text = keyword === "boolean" ? "is unknown; check the spelling" : message;
      return `${placeOf(instancePath)}: ${text}`;
    });
  return { kind: "problems", problems: [...new Set(problems)] };
}

/** `/pools/0/ranges` becomes `pools[0].ranges`. */
function placeOf(pointer: string): string {
  const parts = pointer.split("/").slice(1);
  const text = parts.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join("");
  return text === "" ? "the document" : text.replace(/^\./, "");
}
