import { type Explanation, NOT_FOUND, PATHS } from "@cloudwire/operator-api";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { cause, kind, list, maybe, number, object, readShape, replica, state, text, truth } from "./schema.ts";

const desiredItem = Type.Object({
  description: text,
  state: Type.Union([Type.Literal("met"), Type.Literal("pending"), Type.Literal("unmet")]),
  message: maybe(text),
});

const queue = Type.Union([
  Type.Object({ kind: Type.Literal("idle") }),
  Type.Object({
    kind: Type.Literal("queued"),
    priority: Type.Union([Type.Literal("high"), Type.Literal("low")]),
    ahead: maybe(number),
  }),
  Type.Object({ kind: Type.Literal("delayed"), dueTime: text, inMs: number }),
  Type.Object({ kind: Type.Literal("processing"), processingMs: number }),
  Type.Object({ kind: Type.Literal("notRunning"), message: text }),
]);

const controller = Type.Object({
  controller: text,
  key: text,
  queue,
  failures: number,
  last: maybe(
    Type.Object({
      outcome: text,
      endTime: text,
      durationMs: number,
      reconcileID: text,
      error: maybe(Type.Object({ code: maybe(text), message: text })),
    }),
  ),
});

const provider = Type.Object({
  name: text,
  connection: text,
  ready: truth,
  reasons: list(text),
  absenceIgnored: maybe(text),
  throttled: list(Type.Object({ quotaClass: text, untilTime: text })),
});

const call = Type.Object({
  time: text,
  provider: maybe(text),
  method: text,
  durationMs: number,
  code: text,
  reason: maybe(text),
  message: maybe(text),
  cloudRequestIds: list(text),
  objectCount: number,
});

const timelineEntry = Type.Object({
  time: text,
  kind: Type.Union([
    Type.Literal("reconcile"),
    Type.Literal("call"),
    Type.Literal("event"),
    Type.Literal("condition"),
    Type.Literal("object"),
  ]),
  source: maybe(text),
  reason: text,
  message: text,
  isWarning: truth,
  count: maybe(number),
});

const explanation = Type.Object({
  object,
  kind,
  time: text,
  replica,
  exists: truth,
  state,
  summary: text,
  causes: list(cause),
  nextRetry: maybe(Type.Object({ time: text, inMs: number, message: text })),
  desired: list(desiredItem),
  facts: list(Type.Object({ name: text, value: text })),
  controllers: list(controller),
  provider: maybe(provider),
  calls: list(call),
  timeline: list(timelineEntry),
});

export function readExplanation(response: unknown): Explanation {
  return readShape(explanation, response, PATHS.explain);
}

/** The only part that is checked of a response that is passed on. */
const withCauses = Type.Object({ causes: list(cause) });

/** The message about an object that does not exist; undefined: it exists, or has a history. */
export function notFoundText(response: unknown): string | undefined {
  if (!Value.Check(withCauses, response)) return undefined;
  const found = response.causes.find(({ reason }) => reason === NOT_FOUND);
  if (found === undefined) return undefined;
  const { message, remedy = "" } = readShape(cause, found, PATHS.explain);
  return `${message.charAt(0).toLowerCase()}${message.slice(1)} ${remedy}`.trimEnd();
}
