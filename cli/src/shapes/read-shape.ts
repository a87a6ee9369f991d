import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { isRecord } from "../connection/json.ts";
import { CommandError } from "../errors.ts";

/** An answer held to the shape that is relied on; further fields are let be. Its texts can be shown: they hold nothing that moves a terminal. */
export function readShape<Schema extends TSchema>(schema: Schema, answer: unknown, path: string): Static<Schema> {
  const shown = printable(answer);
  if (Value.Check(schema, shown)) return shown;
  const [first] = Value.Errors(schema, shown);
  const problem = first ? `${first.instancePath || "the answer"} ${first.message}` : "it is of another form";
  throw new CommandError(
    `the controller answers ${path} in a form that this program does not know (${problem}): use the cloudwire of the controller's version, or read the answer with -o json`,
  );
}

/** Clouds and users of the cluster write some of these texts: a control character would be the terminal's, a turned direction hides words. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu;

function printable(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(UNPRINTABLE, " ");
  if (Array.isArray(value)) return value.map(printable);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.replaceAll(UNPRINTABLE, " "), printable(inner)]),
  );
}
