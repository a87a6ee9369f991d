import { type Explanation, NOT_IN_CLUSTER, PATHS } from "@cloudwire/operator-api";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { cause, kind, list, maybe, number, object, readShape, replica, state, text, truth } from "./schema.ts";

const wish = Type.Object({
  what: text,
  state: Type.Union([Type.Literal("met"), Type.Literal("pending"), Type.Literal("unmet")]),
  detail: maybe(text),
});

const queue = Type.Union([
  Type.Object({ kind: Type.Literal("idle") }),
  Type.Object({
    kind: Type.Literal("waiting"),
    priority: Type.Union([Type.Literal("high"), Type.Literal("low")]),
    ahead: maybe(number),
  }),
  Type.Object({ kind: Type.Literal("delayed"), dueAt: text, inMs: number }),
  Type.Object({ kind: Type.Literal("working"), forMs: number }),
  Type.Object({ kind: Type.Literal("notRunning"), why: text }),
]);

const work = Type.Object({
  controller: text,
  key: text,
  queue,
  failures: number,
  last: maybe(
    Type.Object({
      outcome: text,
      end: text,
      durationMs: number,
      reconcileId: text,
      error: maybe(Type.Object({ code: maybe(text), message: text })),
    }),
  ),
});

const provider = Type.Object({
  name: text,
  connection: text,
  ready: truth,
  reasons: list(text),
  doubt: maybe(text),
  held: list(Type.Object({ quotaClass: text, until: text })),
});

const call = Type.Object({
  at: text,
  provider: maybe(text),
  rpc: text,
  durationMs: number,
  code: text,
  reason: maybe(text),
  message: maybe(text),
  cloudRequestIds: list(text),
  objects: number,
});

const happening = Type.Object({
  at: text,
  kind: Type.Union([
    Type.Literal("reconcile"),
    Type.Literal("call"),
    Type.Literal("event"),
    Type.Literal("condition"),
    Type.Literal("object"),
  ]),
  by: maybe(text),
  reason: text,
  message: text,
  isWarning: truth,
  count: maybe(number),
});

const explanation = Type.Object({
  object,
  kind,
  at: text,
  replica,
  exists: truth,
  state,
  summary: text,
  causes: list(cause),
  nextTry: maybe(Type.Object({ at: text, inMs: number, why: text })),
  wishes: list(wish),
  facts: list(Type.Object({ name: text, value: text })),
  work: list(work),
  provider: maybe(provider),
  calls: list(call),
  timeline: list(happening),
});

export function readExplanation(answer: unknown): Explanation {
  return readShape(explanation, answer, PATHS.explain);
}

/** As little as it takes to tell, for an answer that is else passed on as it is. */
const withCauses = Type.Object({ causes: list(cause) });

/** What is said of an object that is nowhere; undefined: it is somewhere, or something is known of it. */
export function nowhereText(answer: unknown): string | undefined {
  if (!Value.Check(withCauses, answer)) return undefined;
  const found = answer.causes.find(({ reason }) => reason === NOT_IN_CLUSTER);
  if (found === undefined) return undefined;
  const { message, remedy = "" } = readShape(cause, found, PATHS.explain);
  return `${message.charAt(0).toLowerCase()}${message.slice(1)} ${remedy}`.trimEnd();
}
