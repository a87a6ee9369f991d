import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { type NodeRecord, NodeRecords } from "./node-records.ts";
import { ProviderMemory } from "./provider-memory.ts";

const record = (parts: Partial<NodeRecord> = {}): NodeRecord => ({
  subject: "uid-a acme://a",
  provider: "acme",
  absences: undefined,
  isGone: true,
  picture: "",
  looks: 1,
  told: undefined,
  ...parts,
});

describe("NodeRecords", () => {
  test("keep nothing of a Node for another one of its name, or for another machine", () => {
    const records = new NodeRecords(new ProviderMemory());
    records.put("a", record());
    const asked = [
      node("a", { spec: { providerID: "acme://a" } }),
      node("a", { spec: { providerID: "acme://a" }, metadata: { uid: "other" } }),
      node("a", { spec: { providerID: "acme://b" } }),
    ];
    expect(asked.map((one) => records.get(one))).toEqual([record(), undefined, undefined]);
  });

  test("count each absent Node once, for its own provider", () => {
    const records = new NodeRecords(new ProviderMemory());
    records.put("a", record());
    records.put("a", record());
    records.put("b", record({ isGone: false }));
    records.put("c", record({ provider: "other" }));
    expect([records.gone("acme", 0), records.gone("other", 0)]).toEqual([
      { absent: 1, deleted: 0 },
      { absent: 1, deleted: 0 },
    ]);
    records.put("a", record({ isGone: false }));
    records.forget("c");
    expect([records.gone("acme", 0), records.gone("other", 0)]).toEqual([
      { absent: 0, deleted: 0 },
      { absent: 0, deleted: 0 },
    ]);
  });

  test("count a deletion for ten minutes, but not one that was exempt", () => {
    const records = new NodeRecords(new ProviderMemory());
    records.put("a", record());
    records.put("b", record({ isGone: false }));
    records.deleted("a", "acme", 1000);
    records.deleted("b", "acme", 1000);
    expect(records.gone("acme", 600_999)).toEqual({ absent: 0, deleted: 1 });
    expect(records.gone("acme", 601_000)).toEqual({ absent: 0, deleted: 0 });
    expect(records.get(node("a", { spec: { providerID: "acme://a" } }))).toBeUndefined();
  });

  test("count deletions of the controller that was there before", () => {
    const memory = new ProviderMemory();
    const former = new NodeRecords(memory);
    former.put("a", record());
    former.deleted("a", "acme", 1000);
    const records = new NodeRecords(memory);
    expect(records.gone("acme", 2000)).toEqual({ absent: 0, deleted: 1 });
  });
});
