import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { type Entry, Ledger } from "./ledger.ts";

function ledger(): Ledger {
  let next = 0;
  return new Ledger(() => `id-${++next}`);
}

const entry: Entry = {
  service: service("web"),
  provider: "acme",
  loadBalancerId: "lb-1",
  spec: undefined,
  specFingerprint: "s",
  nodesFingerprint: "n",
  observedFingerprint: "",
  lockKey: "",
  ingress: undefined,
  pending: undefined,
};

const attempt = { service: service("web"), provider: "acme" };
const deletion = { ...attempt, operationId: "op" };
const { uid } = attempt.service.metadata;

test("attempt() gives the same id to each try of one change, and a new one to the next", () => {
  const known = ledger();
  const id = (key: string, what: string): string => known.attempt(key, what, attempt);
  expect([id("a", "x"), id("a", "x"), id("b", "x")]).toEqual(["id-1", "id-1", "id-2"]);
  expect([id("a", "y"), id("a", "x")]).toEqual(["id-3", "id-4"]);
  expect([known.attempted("a"), known.attempted("c")]).toMatchObject([attempt, undefined]);
  known.settled("a");
  expect(known.attempted("a")).toBeUndefined();
  expect([id("a", "x"), id("b", "x")]).toEqual(["id-5", "id-2"]);
});

test("drop() loses the load balancer, and not that the Service is another's", () => {
  const known = ledger();
  known.recordDeletion("a", deletion);
  known.record("a", entry);
  expect(known.deletion("a", uid)).toBeUndefined();
  known.recordDeletion("a", deletion);
  known.recordForeign("a", "u");
  known.attempt("a", "x", attempt);
  known.drop("a");
  expect([known.entry("a"), known.deletion("a", uid), known.attempted("a"), known.isForeign("a", "u")]).toEqual([
    undefined,
    undefined,
    undefined,
    true,
  ]);
});

test("forget() loses everything", () => {
  const known = ledger();
  known.record("a", entry);
  known.recordForeign("a", "u");
  known.recordCleaned("b", "v");
  expect([known.knows("a"), known.knows("b"), known.knows("c")]).toEqual([true, true, false]);
  known.forget("a");
  known.forget("b");
  expect([[...known.entries()], known.knows("a"), known.knows("b")]).toEqual([[], false, false]);
});

test("declined() is what one process of a provider said, until the Service is served", () => {
  const known = ledger();
  known.attempt("a", "x", attempt);
  known.recordDeclined("a", entry.service, "boot-1");
  expect([known.declined("a", "boot-1"), known.declined("a", "boot-2"), known.attempted("a")]).toEqual([
    entry.service,
    undefined,
    undefined,
  ]);
  known.record("a", entry);
  expect(known.declined("a", "boot-1")).toBeUndefined();
});

test("holder() is whose load balancer there is, may be, or is being deleted", () => {
  const known = ledger();
  known.attempt("a", "x", attempt);
  known.recordDeletion("b", deletion);
  known.record("c", entry);
  expect(["a", "b", "c", "d"].map((key) => known.holder(key))).toEqual([
    expect.objectContaining(attempt),
    deletion,
    entry,
    undefined,
  ]);
  expect([...known.holderKeys()].toSorted()).toEqual(["a", "b", "c"]);
  expect(["a", "b", "c", "d"].map((key) => known.knows(key))).toEqual([true, true, true, false]);
});

test("refused() is what one process of a provider refused, until the Service changes or the time is over", () => {
  const known = ledger();
  const refused = { service: entry.service, bootId: "boot-1", message: "no", untilMs: 100 };
  const changed = service("web", { metadata: { annotations: { touched: "yes" } } });
  const refusedNow = (of = entry.service, bootId = "boot-1", nowMs = 99) => {
    known.recordRefused("a", refused);
    return known.refused("a", of, bootId, nowMs);
  };
  expect([refusedNow(), refusedNow(changed), refusedNow(entry.service, "boot-2")]).toEqual([
    refused,
    undefined,
    undefined,
  ]);
  expect([refusedNow(entry.service, "boot-1", 100), known.knows("a")]).toEqual([undefined, false]);
});

test("recordCleaned() holds until the Service wants a load balancer again", () => {
  const known = ledger();
  known.record("a", entry);
  known.recordCleaned("a", "u");
  expect([known.entry("a"), known.isCleaned("a", "u"), known.isCleaned("a", "v")]).toEqual([undefined, true, false]);
  known.record("a", entry);
  expect(known.isCleaned("a", "u")).toBe(false);
});

test("deletion() and isForeign() are about one Service, not its name", () => {
  const known = ledger();
  known.recordDeletion("a", deletion);
  known.recordForeign("a", "u");
  expect([known.deletion("a", uid), known.deletion("a", "v")]).toEqual([deletion, undefined]);
  expect([known.isForeign("a", "u"), known.isForeign("a", "v")]).toEqual([true, false]);
  known.recordOurs("a");
  expect(known.isForeign("a", "u")).toBe(false);
});
