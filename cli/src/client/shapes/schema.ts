import { OBJECT_KINDS, type ObjectKind, type ObjectRef, STATES, type State } from "@cloudwire/operator-api";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { CommandError } from "../../errors.ts";
import { printable } from "../../terminal/terminal.ts";
import { isRecord } from "../json.ts";

/** Checks a response against a schema; unknown fields are allowed. Removes control characters from its strings. */
export function readShape<Schema extends TSchema>(schema: Schema, response: unknown, path: string): Static<Schema> {
  const shown = showable(response);
  if (Value.Check(schema, shown)) return shown;
  const [first] = Value.Errors(schema, shown);
  const problem = first ? `${first.instancePath || "the response"} ${first.message}` : "it has another format";
  throw new CommandError(
    "VERSION_MISMATCH",
    `the response of the controller to ${path} has an unknown format (${problem}): use the version of cloudwire that matches the controller, or -o json`,
  );
}

function showable(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.map(showable);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [printable(name), showable(inner)]));
}

export const text = Type.String();
export const number = Type.Number();
export const truth = Type.Boolean();
export const list = Type.Array;
export const maybe = Type.Optional;

export const state = Type.Union(STATES.map((name: State) => Type.Literal(name)));

export const kind = Type.Union(OBJECT_KINDS.map((name: ObjectKind) => Type.Literal(name)));

/** KIND/NAME. */
export const object = Type.Unsafe<ObjectRef>(Type.String({ pattern: `^(?:${OBJECT_KINDS.join("|")})/.` }));

export const cause = Type.Object({ reason: text, message: text, remedy: maybe(text), documentation: maybe(text) });

export const replica = Type.Object({ identity: text, isLeader: truth, leaderIdentity: maybe(text), version: text });
