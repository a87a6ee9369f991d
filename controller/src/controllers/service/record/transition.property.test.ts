import fc from "fast-check";
import { expect, test } from "vitest";
import { service } from "../../../../test/support/builders.ts";
import { acknowledged, drift, operation } from "../../../../test/support/service/record-builders.ts";
import { currentProviderOf, presentOf, type ServiceRecord } from "./record.ts";
import { type RecordEvent, transition } from "./transition.ts";

const seen = fc
  .record({ uid: fc.constantFrom("u-1", "u-2"), size: fc.constantFrom("1", "2") })
  .map(({ uid, size }) => service("web", { metadata: { uid, annotations: { size } } }));
const provider = fc.constantFrom("a", "b", "c");
const nowMs = fc.nat(1000);
const present = fc
  .record({ service: seen, provider, operation: fc.constantFrom(undefined, operation) })
  .map((parts) => ({ ...acknowledged, ...parts }));
const intent = fc.constantFrom("x", "y");
const inspection = fc.constantFrom(
  { kind: "steady" } as const,
  { kind: "left", drift, decision: "later" } as const,
  { kind: "left", drift, decision: "suspended" } as const,
);
const kind = <K extends string>(name: K) => fc.constant(name);

const event: fc.Arbitrary<RecordEvent> = fc.oneof(
  fc.record({ kind: kind("serviceSeen"), service: seen }),
  fc.record({ kind: kind("serviceRestored"), deleted: seen }),
  fc.record({ kind: kind("serviceDeleted"), last: seen }),
  fc.record({ kind: fc.constantFrom("serviceAbsent", "notOwned", "deleted", "retained", "driftSuperseded") }),
  fc.record({ kind: kind("owned"), nowMs }),
  fc.record({ kind: kind("ownerChanged"), provider, leavesPrevious: fc.boolean(), nowMs }),
  fc.record({ kind: fc.constantFrom("read", "changeAccepted", "changeCompleted"), present }),
  fc.record({
    kind: fc.constantFrom("changeRequested", "deleteRequested"),
    service: seen,
    provider,
    intent,
    requestID: kind(""),
  }),
  fc.record({ kind: fc.constantFrom("changeFailed", "notFound", "repaired"), nowMs }),
  fc.record({
    kind: kind("changeRejected"),
    rejection: fc.record({ service: seen, bootID: kind("boot"), message: kind("no"), untilMs: nowMs }),
    inForce: fc.option(present, { nil: undefined }),
    nowMs,
  }),
  fc.record({ kind: kind("changeDeclined"), service: seen, bootID: kind("boot") }),
  fc.record({ kind: kind("deleteAccepted"), operation: fc.constant({ id: "op" }) }),
  fc.record({ kind: kind("previousFound"), provider, loadBalancerID: fc.constantFrom(undefined, "lb-0") }),
  fc.record({ kind: kind("previousCleared"), provider }),
  fc.record({ kind: kind("suspected"), delayMs: nowMs }),
  fc.record({ kind: kind("inspected"), inspection, nowMs, periodMs: nowMs }),
);

/** Each request of a history has an ID of its own. */
const histories = fc
  .array(event, { maxLength: 60, size: "max" })
  .map((events) => events.map((one, index) => ("requestID" in one ? { ...one, requestID: `r-${index}` } : one)));

/** Events that may remove the current provider. */
const ENDS: readonly RecordEvent["kind"][] = ["deleted", "retained", "changeDeclined"];

type Step = { readonly before: ServiceRecord | undefined; readonly after: ServiceRecord; readonly by: RecordEvent };

/** What must hold after each event, by name. */
const LAWS: Readonly<Record<string, (step: Step) => boolean>> = {
  "the current provider changes only with a response": ({ before, after, by }) =>
    currentProviderOf(before) === undefined || currentProviderOf(after) !== undefined || ENDS.includes(by.kind),
  "another UID waits for what is held": ({ before, after }) =>
    currentProviderOf(before) === undefined || before?.uid === after.uid,
  "what is being deleted is not believed": ({ after }) =>
    after.state.kind !== "deleting" || presentOf(after) === undefined,
  "the present provider is no previous one": ({ after }) =>
    after.previous.every(({ provider: previous }) => previous !== currentProviderOf(after)?.provider),
  "a previous provider is none that holds nothing": ({ after }) =>
    after.previous.every(({ provider: previous }) => !after.cleared.has(previous)),
  "the present provider is none that holds nothing": ({ after }) =>
    !after.cleared.has(currentProviderOf(after)?.provider ?? ""),
};

function broken(step: Step): readonly string[] {
  return Object.keys(LAWS).filter((law) => LAWS[law]?.(step) !== true);
}

test("transition() never loses what may be in the cloud, nor believes what may be gone, in any history (case S-13)", () => {
  fc.assert(
    fc.property(histories, (history) => {
      let record: ServiceRecord | undefined;
      for (const by of history) {
        const before = record;
        record = transition(before, by).record;
        const isForgotten = record === undefined && currentProviderOf(before) !== undefined && !ENDS.includes(by.kind);
        expect([by.kind, isForgotten, record && broken({ before, after: record, by })]).toEqual([
          by.kind,
          false,
          record && [],
        ]);
      }
    }),
    { numRuns: 1000 },
  );
});

test("transition() keeps the ID of a request until it is answered, and never uses it for another intent", () => {
  fc.assert(
    fc.property(histories, (history) => {
      let record: ServiceRecord | undefined;
      const intents = new Map<string, string>();
      for (const happened of history) {
        const before = openRequest(record);
        record = transition(record, happened).record;
        const now = openRequest(record);
        if (now === undefined) continue;
        const isSame = before?.intent === now.intent && before.kind === now.kind;
        expect(isSame ? now.requestID : before?.requestID).toBe(before?.requestID);
        expect(intents.get(now.requestID) ?? now.intent).toBe(now.intent);
        intents.set(now.requestID, now.intent);
      }
    }),
    { numRuns: 1000 },
  );
});

function openRequest(record: ServiceRecord | undefined) {
  const state = record?.state;
  if (state?.kind !== "changing" && state?.kind !== "deleting") return undefined;
  const { kind: of, progress } = state;
  return progress.kind === "requested" ? { ...progress, kind: of } : undefined;
}
