import { expect, test } from "vitest";
import {
  acknowledged,
  asked,
  hint,
  made,
  operation,
  record,
  rejection,
  STATE_NAMES,
  STATES,
} from "../../../../test/support/service/record-builders.ts";
import { hintOf, isDeclined, isUnanswered, openRequestID, presentOf, rejectionOf, releasedBy } from "./record.ts";

const byState = <T>(read: (of: ReturnType<typeof record>) => T) =>
  Object.fromEntries(STATE_NAMES.map((name) => [name, read(record(STATES[name]))]));
const none = Object.fromEntries(STATE_NAMES.map((name) => [name, undefined]));

test("presentOf() is what is acknowledged, and what is under way; nothing while it is being deleted", () => {
  expect(byState(presentOf)).toEqual({
    ...none,
    accepted: { ...acknowledged, operation },
    active: { ...acknowledged, operation: undefined },
  });
  expect(presentOf(undefined)).toBeUndefined();
});

test("hintOf() names the load balancer as long as it may be there", () => {
  expect(byState(hintOf)).toEqual({ ...none, accepted: hint, active: hint, deleting: hint });
  expect(hintOf(record({ ...STATES.requested, hint }))).toEqual(hint);
  expect(hintOf(undefined)).toBeUndefined();
});

test("isUnanswered() and openRequestID() are about requests without answer", () => {
  const no = Object.fromEntries(STATE_NAMES.map((name) => [name, false]));
  expect(byState(isUnanswered)).toEqual({ ...no, requested: true, deleting: true });
  expect(byState((of) => openRequestID(of, "i-1"))).toEqual({ ...none, requested: "r-1", deleting: "r-1" });
  expect(byState((of) => openRequestID(of, "i-2"))).toEqual(none);
  expect([isUnanswered(undefined), openRequestID(undefined, "i-1")]).toEqual([false, undefined]);
});

test("rejectionOf() is what one process rejected, until the Service changes or the time is over", () => {
  const rejected = record(STATES.active, { rejection });
  expect([
    rejectionOf(rejected, asked, "boot-1", 99),
    rejectionOf(rejected, made, "boot-1", 99),
    rejectionOf(rejected, asked, "boot-2", 99),
    rejectionOf(rejected, asked, "boot-1", 100),
    rejectionOf(record(STATES.active), asked, "boot-1", 99),
    rejectionOf(undefined, asked, "boot-1", 99),
  ]).toEqual([rejection, undefined, undefined, undefined, undefined, undefined]);
});

test("isDeclined() is what one process answered of this spec", () => {
  const declined = record(STATES.declined);
  expect([
    isDeclined(declined, asked, "boot-1"),
    isDeclined(declined, made, "boot-1"),
    isDeclined(declined, asked, "boot-2"),
    isDeclined(record(STATES.active), asked, "boot-1"),
    isDeclined(undefined, asked, "boot-1"),
  ]).toEqual([true, false, false, false, false]);
});

const previous = [{ provider: "old", loadBalancerID: "lb-0" }];

test.each([
  ["nothing of a Service that begins", undefined, record(STATES.active), []],
  ["nothing while all stays", record(STATES.active), record(STATES.active), []],
  ["nothing while a deletion is in progress", record(STATES.active), record(STATES.deleting), []],
  ["what is deleted", record(STATES.deleting), record(STATES.gone), ["acme"]],
  ["what is deleted with its record", record(STATES.deleting), undefined, ["acme"]],
  [
    "what another spec no longer needs",
    record(STATES.active),
    record({ kind: "active", acknowledged: { ...acknowledged, specFingerprint: "spec-2" } }),
    ["acme"],
  ],
  [
    "what is left at the provider before",
    record(STATES.active),
    record({ kind: "active", acknowledged: { ...acknowledged, provider: "new", specFingerprint: "spec-2" } }),
    ["acme"],
  ],
  ["a previous load balancer that is deleted", record(STATES.active, { previous }), record(STATES.active), ["old"]],
  [
    "nothing of a previous one that is left",
    record(STATES.active, { previous }),
    record(STATES.active, { previous }),
    [],
  ],
])("releasedBy() finds %s", (_what, before, after, expected) => {
  expect(releasedBy(before, after)).toEqual(expected);
});
