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
  specFingerprint: "s",
  nodesFingerprint: "n",
  ingress: undefined,
  pending: undefined,
};

test("requestId() is the same for each try of one change, and new for the next", () => {
  const known = ledger();
  const tries = [known.requestId("a", "x"), known.requestId("a", "x"), known.requestId("b", "x")];
  expect(tries).toEqual(["id-1", "id-1", "id-2"]);
  expect([known.requestId("a", "y"), known.requestId("a", "x")]).toEqual(["id-3", "id-4"]);
  expect([known.isAttempted("a"), known.isAttempted("c")]).toEqual([true, false]);
  known.settled("a");
  expect(known.isAttempted("a")).toBe(false);
  expect([known.requestId("a", "x"), known.requestId("b", "x")]).toEqual(["id-5", "id-2"]);
});

test("drop() loses the load balancer, and not that the Service is another's", () => {
  const known = ledger();
  known.record("a", entry);
  known.recordDeletion("a", { uid: "u", operationId: "op" });
  known.recordForeign("a", "u");
  expect(known.requestId("a", "x")).toBe("id-1");
  known.drop("a");
  expect([known.entry("a"), known.deletion("a", "u"), known.isForeign("a", "u"), known.requestId("a", "x")]).toEqual([
    undefined,
    undefined,
    true,
    "id-2",
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
  known.recordDeletion("a", { uid: "u", operationId: "op" });
  known.recordForeign("a", "u");
  expect([known.deletion("a", "u"), known.deletion("a", "v")]).toEqual([{ uid: "u", operationId: "op" }, undefined]);
  expect([known.isForeign("a", "u"), known.isForeign("a", "v")]).toEqual([true, false]);
});
