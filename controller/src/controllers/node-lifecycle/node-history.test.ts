import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { DeletionHistory } from "./deletion-history.ts";
import { type NodeRecord, NodeRecords } from "./node-history.ts";

const record = (parts: Partial<NodeRecord> = {}): NodeRecord => ({
  identity: "uid-a acme://a",
  provider: "acme",
  absences: undefined,
  isGone: true,
  observedState: "",
  unchangedLookups: 1,
  reported: {},
  ...parts,
});

let clock: FakeClock;
let deletions: DeletionHistory;
let records: NodeRecords;
beforeEach(() => {
  clock = new FakeClock();
  deletions = new DeletionHistory({ clock, log: new FakeLog() });
  records = new NodeRecords(deletions);
});

/** Absent and deleted Nodes of a provider. */
function gone(provider: string, of = records): readonly number[] {
  const { absent, deleted } = of.gone(provider);
  return [absent, deleted.count];
}

describe("NodeRecords", () => {
  test("keep nothing of a Node for another one of its name, or for another machine", () => {
    records.put("a", record());
    const asked = [
      node("a", { spec: { providerID: "acme://a" } }),
      node("a", { spec: { providerID: "acme://a" }, metadata: { uid: "other" } }),
      node("a", { spec: { providerID: "acme://b" } }),
    ];
    expect(asked.map((one) => records.get(one))).toEqual([record(), undefined, undefined]);
  });

  test("count each absent Node once, for its own provider", () => {
    records.put("a", record());
    records.put("a", record());
    records.put("b", record({ isGone: false }));
    records.put("c", record({ provider: "other" }));
    expect([gone("acme"), gone("other")]).toEqual([
      [1, 0],
      [1, 0],
    ]);
    records.put("a", record({ isGone: false }));
    records.forget("c");
    expect([gone("acme"), gone("other")]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test("count a deletion for ten minutes, but not one that was exempt", async () => {
    records.put("a", record());
    records.put("b", record({ isGone: false }));
    expect([records.counts("a"), records.counts("b")]).toEqual([true, false]);
    records.deleted("a", "acme");
    records.deleted("b", "acme");
    await clock.advance(599_999);
    expect(gone("acme")).toEqual([0, 1]);
    await clock.advance(1);
    expect(gone("acme")).toEqual([0, 0]);
    expect(records.get(node("a", { spec: { providerID: "acme://a" } }))).toBeUndefined();
  });

  test("count deletions of the controller that was there before", () => {
    records.put("a", record());
    records.deleted("a", "acme");
    expect(gone("acme", new NodeRecords(deletions))).toEqual([0, 1]);
  });
});
