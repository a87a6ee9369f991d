import { type ObjectKind, type ObjectRef, OBJECT_KINDS, type State, STATES } from "@cloudwire/operator-api";
import { Type } from "typebox";

export const text = Type.String();
export const number = Type.Number();
export const truth = Type.Boolean();
export const list = Type.Array;
export const maybe = Type.Optional;

export const state = Type.Union(STATES.map((name: State) => Type.Literal(name)));

export const kind = Type.Union(OBJECT_KINDS.map((name: ObjectKind) => Type.Literal(name)));

/** KIND/NAME. */
export const object = Type.Unsafe<ObjectRef>(Type.String({ pattern: `^(?:${OBJECT_KINDS.join("|")})/.` }));

export const cause = Type.Object({ reason: text, message: text, remedy: maybe(text), see: maybe(text) });

export const replica = Type.Object({ identity: text, leads: truth, leader: maybe(text), version: text });
