import { describe, expect, test } from "vitest";
import {
  acknowledged,
  asked,
  drift,
  EVENTS,
  type EventName,
  first,
  hint,
  made,
  operation,
  other,
  pending,
  present,
  record,
  rejection,
  STATE_NAMES,
  STATES,
} from "../../../../test/support/service/record-builders.ts";
import { currentProviderOf, NO_DRIFT, type ServiceRecord } from "./record.ts";
import { fold, transition } from "./transition.ts";

const after = (before: ServiceRecord | undefined, event: Parameters<typeof transition>[1]) =>
  transition(before, event).record;

/** The state in one word; "(none)" for no record. */
function shown(of: ServiceRecord | undefined): string {
  if (of === undefined) return "(none)";
  const { state } = of;
  if (state.kind === "changing") return state.progress.kind;
  return state.kind === "unknown" && state.current !== undefined ? "unknown, held" : state.kind;
}

const SAME = "=";
const row = (event: EventName): readonly string[] =>
  [undefined, ...STATE_NAMES.map((name) => record(STATES[name]))].map((before) => {
    const now = shown(after(before, EVENTS[event]));
    return now === shown(before) ? SAME : now;
  });

// Columns: no record, then the states of STATE_NAMES.
test.each<readonly [EventName, readonly string[]]>([
  ["serviceSeen", ["unknown", "=", "=", "=", "=", "=", "=", "=", "=", "="]],
  ["serviceSeen, another", ["unknown", "=", "=", "unknown", "unknown", "=", "=", "=", "=", "unknown"]],
  ["serviceRestored", Array(10).fill(SAME)],
  ["serviceDeleted", ["unknown", "=", "=", "=", "=", "=", "=", "=", "=", "="]],
  ["serviceAbsent", ["=", "(none)", "=", "(none)", "(none)", "=", "=", "=", "=", "(none)"]],
  ["notOwned", ["=", "foreign", "=", "=", "foreign", "=", "=", "=", "=", "foreign"]],
  ["owned", ["=", "=", "=", "unknown", "=", "=", "=", "=", "=", "="]],
  ["ownerChanged", ["=", "=", "=", "=", "=", "unknown, held", "unknown, held", "unknown, held", "unknown, held", "="]],
  ["read", ["=", ...STATE_NAMES.map((name) => (name === "active" ? SAME : "active"))]],
  ["changeRequested", ["requested", ...STATE_NAMES.map((name) => (name === "requested" ? SAME : "requested"))]],
  ["changeAccepted", ["=", ...STATE_NAMES.map((name) => (name === "accepted" ? SAME : "accepted"))]],
  ["changeCompleted", ["=", ...STATE_NAMES.map((name) => (name === "active" ? SAME : "active"))]],
  ["changeFailed", ["=", "=", "=", "unknown", "unknown", ...Array(4).fill("unknown, held"), "unknown"]],
  ["notFound", ["=", "=", "=", "unknown", "unknown", ...Array(4).fill("unknown, held"), "unknown"]],
  ["changeRejected", ["=", "=", "=", "unknown", "unknown", ...Array(4).fill("unknown, held"), "unknown"]],
  ["changeRejected, another serves", ["=", ...STATE_NAMES.map((name) => (name === "active" ? SAME : "active"))]],
  ["changeDeclined", ["=", ...STATE_NAMES.map((name) => (name === "declined" ? SAME : "declined"))]],
  ["deleteRequested", ["deleting", ...STATE_NAMES.map((name) => (name === "deleting" ? SAME : "deleting"))]],
  ["deleteAccepted", Array(10).fill(SAME)],
  ["deleted", ["=", ...STATE_NAMES.map((name) => (name === "gone" ? SAME : "gone"))]],
  ["retained", ["=", ...STATE_NAMES.map(() => "(none)")]],
  ["previousFound", Array(10).fill(SAME)],
  ["previousCleared", Array(10).fill(SAME)],
  ["suspected", Array(10).fill(SAME)],
  ["inspected", Array(10).fill(SAME)],
  ["repaired", Array(10).fill(SAME)],
  ["driftSuperseded", Array(10).fill(SAME)],
])("transition() of %s leads each state where it should", (event, want) => {
  expect(row(event)).toEqual(want);
});

describe("transition() of what happens to the Service", () => {
  test("begins a record for which a list of any age counts", () => {
    expect(after(undefined, EVENTS.serviceSeen)).toEqual(record(STATES.unknown, { lastSeen: asked }));
  });

  test("keeps what was last seen", () => {
    expect(after(record(STATES.active), EVENTS.serviceSeen)).toEqual(record(STATES.active, { lastSeen: asked }));
    const same = record(STATES.active, { lastSeen: asked });
    expect(after(same, EVENTS.serviceSeen)).toBe(same);
  });

  test("lets another Service of the name wait while the earlier one's load balancer may be there", () => {
    expect(after(record(STATES.active), EVENTS["serviceSeen, another"])).toEqual(
      record(STATES.active, { isDeleted: true }),
    );
    expect(after(record(STATES.gone), EVENTS["serviceSeen, another"])).toEqual(
      record(STATES.unknown, { uid: other.metadata.uid, lastSeen: other }),
    );
  });

  test("keeps a Service that was deleted as it was last, whatever a cache still shows", () => {
    const deleted = after(record(STATES.active), EVENTS.serviceDeleted);
    expect(deleted).toEqual(record(STATES.active, { lastSeen: asked, isDeleted: true }));
    expect(deleted && after(deleted, { kind: "serviceSeen", service: first })).toBe(deleted);
  });

  test("takes one that is back for the one that it was, unless it was deleted again", () => {
    const deleted = record(STATES.active, { lastSeen: asked, isDeleted: true });
    expect(after(deleted, EVENTS.serviceRestored)).toEqual(record(STATES.active, { lastSeen: asked }));
    const again = record(STATES.active, { lastSeen: { ...asked }, isDeleted: true });
    expect(after(again, EVENTS.serviceRestored)).toBe(again);
  });

  test("keeps one that was deleted before anything was known of it, for a reconcile that is under way", () => {
    expect(after(undefined, EVENTS.serviceDeleted)).toEqual(
      record(STATES.unknown, { lastSeen: asked, isDeleted: true }),
    );
    expect(after(record(STATES.gone), { kind: "serviceDeleted", last: other })).toEqual(
      record(STATES.unknown, { uid: other.metadata.uid, lastSeen: other, isDeleted: true }),
    );
  });

  test("learns nothing from one that came and went while an earlier one's load balancer is there", () => {
    const before = record(STATES.active);
    expect(after(before, { kind: "serviceDeleted", last: other })).toBe(before);
  });

  test("remembers a Service that is absent only while its load balancer may be there", () => {
    expect(after(record(STATES.active), EVENTS.serviceAbsent)).toEqual(record(STATES.active, { isDeleted: true }));
    expect(after(record(STATES.unknown), EVENTS.serviceAbsent)).toBeUndefined();
  });

  test("drops a rejection when the Service becomes another, and not before", () => {
    const before = record(STATES.active, { rejection });
    expect(after(before, { kind: "serviceSeen", service: { ...asked } })).toMatchObject({ rejection });
    expect(after(before, { kind: "serviceSeen", service: made })).toMatchObject({ rejection: undefined });
  });
});

describe("transition() of who serves the Service", () => {
  test("reads again what was temporarily not served here", () => {
    expect(after(record(STATES.foreign), EVENTS.owned)).toEqual(
      record({ kind: "unknown", current: undefined, sinceMs: 9 }),
    );
  });

  test.each([
    { leavesPrevious: true, previous: [{ provider: "acme", loadBalancerID: "lb-1" }] },
    { leavesPrevious: false, previous: [] },
  ])("hands it over: the earlier one's is another load balancer: $leavesPrevious", ({ leavesPrevious, previous }) => {
    const before = record(STATES.active, { rejection, previous: [{ provider: "next", loadBalancerID: "lb-0" }] });
    expect(after(before, { ...EVENTS.ownerChanged, leavesPrevious })).toEqual(
      record({ kind: "unknown", current: { provider: "next", sent: made }, sinceMs: 9 }, { previous }),
    );
  });

  test("names a provider once that it is handed over from twice", () => {
    const before = record(STATES.requested, { previous: [{ provider: "acme", loadBalancerID: "lb-0" }] });
    expect(after(before, EVENTS.ownerChanged)?.previous).toEqual([{ provider: "acme", loadBalancerID: undefined }]);
  });

  test("changes nothing when the owner is the current provider, or there is none", () => {
    const [held, free] = [record(STATES.active), record(STATES.unknown)];
    expect(after(held, { ...EVENTS.ownerChanged, provider: "acme" })).toBe(held);
    expect(after(free, EVENTS.ownerChanged)).toBe(free);
  });

  test("collects previous load balancers until they are cleared", () => {
    const found = fold(record(STATES.active), [
      EVENTS.previousFound,
      { kind: "previousFound", provider: "older", loadBalancerID: undefined },
      { kind: "previousFound", provider: "old", loadBalancerID: "lb-00" },
      { kind: "previousFound", provider: "acme", loadBalancerID: "lb-1" },
    ]);
    expect(found?.previous).toEqual([
      { provider: "older", loadBalancerID: undefined },
      { provider: "old", loadBalancerID: "lb-00" },
    ]);
    expect(fold(found, [EVENTS.previousCleared])).toMatchObject({
      previous: [{ provider: "older", loadBalancerID: undefined }],
      cleared: new Set(["old"]),
    });
  });

  test.each([EVENTS.changeRequested, EVENTS.deleteRequested, EVENTS.read])(
    "takes the provider of $kind neither for a previous one nor for a cleared one",
    (event) => {
      const previous = [
        { provider: "acme", loadBalancerID: "lb-1" },
        { provider: "old", loadBalancerID: "lb-0" },
      ];
      const before = record(STATES.unknown, { previous, cleared: new Set(["acme", "older"]) });
      expect(after(before, event)).toMatchObject({ previous: previous.slice(1), cleared: new Set(["older"]) });
    },
  );
});

describe("transition() of a change", () => {
  const request = EVENTS.changeRequested;

  test("begins a record if there is none", () => {
    expect(after(undefined, request)).toMatchObject({ uid: "uid-default-web", lastSeen: asked, isDeleted: false });
  });

  test("keeps what is acknowledged, and the operation that the request replaces", () => {
    const progress = { kind: "requested", intent: "i-2", requestID: "r-2", operation } as const;
    const state = { kind: "changing", provider: "acme", sent: asked, progress, acknowledged, hint: undefined } as const;
    expect(after(record(STATES.accepted), request)).toEqual(record(state));
    expect(after(record(STATES.active), request)?.state).toEqual({
      ...state,
      progress: { ...progress, operation: undefined },
    });
  });

  test("keeps of a deletion under way no more than what names the load balancer (case S-13)", () => {
    expect(after(record(STATES.deleting), request)?.state).toMatchObject({ acknowledged: undefined, hint });
    expect(fold(record(STATES.deleting), [request, EVENTS.deleteRequested])?.state).toMatchObject({ hint });
  });

  test("keeps the ID of a request without answer, and the Service that it was sent for, and gives another intent another", () => {
    const again = { ...request, service: made, requestID: "r-3" };
    const twice = fold(record(STATES.unknown), [request, again]);
    expect(twice?.state).toMatchObject({ progress: { requestID: "r-2" }, sent: asked });
    expect(fold(twice, [{ ...again, intent: "i-3" }])?.state).toMatchObject({
      progress: { requestID: "r-3" },
      sent: made,
    });
    expect(fold(twice, [EVENTS.changeCompleted, again])?.state).toMatchObject({ progress: { requestID: "r-3" } });
    expect(fold(twice, [EVENTS.changeRejected, again])?.state).toMatchObject({ progress: { requestID: "r-3" } });
  });

  test("polls what was accepted, and believes what was completed", () => {
    const progress = { kind: "accepted", operation };
    expect(after(record(STATES.requested), { kind: "changeAccepted", present: pending })?.state).toEqual({
      kind: "changing",
      provider: "acme",
      sent: made,
      progress,
      acknowledged,
      hint: undefined,
    });
    expect(after(record(STATES.requested), EVENTS.changeCompleted)?.state).toEqual({ kind: "active", acknowledged });
  });

  test.each([EVENTS.changeFailed, EVENTS.notFound])("reads again after $kind", (event) => {
    expect(after(record(STATES.accepted, { rejection }), event)).toEqual(
      record({ kind: "unknown", current: { provider: "acme", sent: asked }, sinceMs: 9 }),
    );
    expect(after(record(STATES.active), event)?.state).toMatchObject({ current: { provider: "acme", sent: made } });
  });

  test("keeps a rejection with the state that is still in force", () => {
    const rejected = EVENTS.changeRejected;
    expect(after(record(STATES.requested), rejected)).toEqual(
      record({ kind: "unknown", current: { provider: "acme", sent: asked }, sinceMs: 9 }, { rejection }),
    );
    expect(after(record(STATES.requested), { ...rejected, inForce: present })).toEqual(
      record(STATES.active, { rejection }),
    );
    expect(after(record(STATES.requested), { ...rejected, inForce: pending })?.state).toMatchObject({
      progress: { kind: "accepted", operation },
    });
  });

  test("forgets everything but the answer that the Service is not the provider's", () => {
    expect(after(record(STATES.requested, { rejection }), EVENTS.changeDeclined)).toEqual(record(STATES.declined));
  });
});

describe("transition() of a deletion", () => {
  const request = EVENTS.deleteRequested;
  const progress = { kind: "requested", intent: "i-2", requestID: "r-2", operation: undefined } as const;

  test.each([
    { of: "active", sent: made, known: hint },
    { of: "accepted", sent: made, known: hint },
    { of: "requested", sent: asked, known: undefined },
    { of: "unknown", sent: asked, known: undefined },
  ] as const)("keeps only what identifies the load balancer of $of", ({ of, sent, known }) => {
    expect(after(record(STATES[of]), request)?.state).toEqual({
      kind: "deleting",
      provider: "acme",
      sent,
      progress,
      hint: known,
    });
  });

  test("keeps the operation that it polls, and the ID of a request without answer", () => {
    const polled = fold(record(STATES.active), [request, EVENTS.deleteAccepted, { ...request, requestID: "r-3" }]);
    expect(polled?.state).toMatchObject({ progress: { ...progress, requestID: "r-3", operation: { id: "op-2" } } });
    expect(fold(polled, [{ ...request, requestID: "r-4" }])?.state).toMatchObject({ progress: { requestID: "r-3" } });
  });

  test("takes an answer for a deletion only while one was requested", () => {
    const before = record(STATES.active);
    expect(after(before, EVENTS.deleteAccepted)).toBe(before);
  });

  test("forgets a Service that is gone, and knows of one that is not that nothing is left", () => {
    expect(after(record(STATES.deleting, { rejection }), EVENTS.deleted)).toEqual(record(STATES.gone));
    expect(after(record(STATES.deleting, { isDeleted: true }), EVENTS.deleted)).toBeUndefined();
  });
});

describe("transition() of drifts", () => {
  const suspected = { ...NO_DRIFT, suspected: true };
  const driftOf = (before: ServiceRecord, ...events: Parameters<typeof fold>[1]) => fold(before, events)?.drift;
  const left = (decision: "later" | "suspended") =>
    ({ kind: "inspected", inspection: { kind: "left", drift, decision }, nowMs: 9, periodMs: 4 }) as const;

  test("suspects only what is acknowledged and not under way", () => {
    expect(driftOf(record(STATES.active), EVENTS.suspected)).toEqual(suspected);
    expect(driftOf(record(STATES.accepted), EVENTS.suspected)).toEqual(NO_DRIFT);
  });

  test.each([EVENTS.inspected, left("later"), EVENTS.repaired, EVENTS.driftSuperseded])(
    "suspects nothing any more after %o",
    (event) => {
      expect(driftOf(record(STATES.active, { drift: suspected }), event)?.suspected).toBe(false);
    },
  );

  test.each([
    { it: "left for a later sweep", event: left("later"), want: drift },
    { it: "steady", event: EVENTS.inspected, want: undefined },
    { it: "repaired", event: EVENTS.repaired, want: undefined },
    { it: "ensured for another reason", event: EVENTS.driftSuperseded, want: undefined },
  ])("suspends repairs until the load balancer is $it", ({ event, want }) => {
    expect(driftOf(record(STATES.active), left("suspended"), event)?.suspended).toEqual(want);
  });

  test("suspends repairs only when they are not to be tried again for long", () => {
    const suspended = (decision: "later" | "suspended") => driftOf(record(STATES.active), left(decision))?.suspended;
    expect([suspended("later"), suspended("suspended")]).toEqual([undefined, drift]);
  });

  test("counts repairs until it is steady half a period after the last, or ensured for another reason", () => {
    const repaired = { ...NO_DRIFT, repairs: { count: 2, lastMs: 9 } };
    const before = record(STATES.active, { drift: repaired });
    const steady = (nowMs: number) => ({ ...EVENTS.inspected, nowMs, periodMs: 4 });
    expect(driftOf(record(STATES.active), EVENTS.repaired, EVENTS.repaired)).toEqual(repaired);
    expect(driftOf(before, steady(10))).toEqual(repaired);
    expect(driftOf(before, left("later"))?.repairs).toEqual(repaired.repairs);
    expect(driftOf(before, steady(11))).toEqual(NO_DRIFT);
    expect(driftOf(before, EVENTS.driftSuperseded)).toEqual(NO_DRIFT);
  });
});

test("transition() wakes only Services that are not reconciled anyway", () => {
  const wakes = STATE_NAMES.map((name) => [
    transition(record(STATES[name]), EVENTS.suspected).effects,
    transition(record(STATES[name]), EVENTS.previousFound).effects,
    transition(record(STATES[name]), EVENTS.serviceSeen).effects,
  ]);
  const active = [[{ kind: "wake", delayMs: 5 }], [{ kind: "wake", delayMs: 0 }], []];
  expect(wakes).toEqual(STATE_NAMES.map((name) => (name === "active" ? active : [[], [], []])));
  expect(transition(undefined, EVENTS.suspected).effects).toEqual([]);
});

test("currentProviderOf() returns the provider that must delete, and the Service that was sent", () => {
  const names = STATE_NAMES.map((name) => currentProviderOf(record(STATES[name])));
  const [fromAsked, fromMade] = [asked, made].map((sent) => ({ provider: "acme", sent }));
  expect(names).toEqual([
    undefined,
    fromAsked,
    undefined,
    undefined,
    fromAsked,
    fromMade,
    fromMade,
    fromAsked,
    undefined,
  ]);
});
