import { OBJECT_KINDS, type ObjectKind, type ObjectRef, STATES, type State } from "@cloudwire/operator-api";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { CommandError } from "../../errors.ts";
import { printable } from "../../terminal/terminal.ts";
import { isRecord } from "../json.ts";

/** An answer held to the shape that is relied on; further fields are let be. Its texts can be shown: they hold nothing that moves a terminal. */
export function readShape<Schema extends TSchema>(schema: Schema, answer: unknown, path: string): Static<Schema> {
  const shown = showable(answer);
  if (Value.Check(schema, shown)) return shown;
  const [first] = Value.Errors(schema, shown);
  const problem = first ? `${first.instancePath || "the answer"} ${first.message}` : "it is of another form";
  throw new CommandError(
    `the controller answers ${path} in a form that this program does not know (${problem}): use the cloudwire of the controller's version, or read the answer with -o json`,
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
