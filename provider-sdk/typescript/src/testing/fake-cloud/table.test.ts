import { describe, expect, test } from "vitest";
import { createTestClock } from "../test-clock.ts";
import { createTable, type TableBehavior } from "./table.ts";

const setUp = (behavior?: TableBehavior) => {
  const clock = createTestClock(0);
  const table = createTable<string>(clock, behavior);
  for (const id of ["a", "b", "c"]) table.put(id, `item ${id}`);
  return { clock, table };
};

describe("createTable()", () => {
  test("pages through all objects in the order of their ids", () => {
    const { table } = setUp();
    const first = table.page({ size: 2 });
    const second = table.page({ size: 2, token: first.nextToken });
    expect([first, second]).toEqual([
      { items: ["item a", "item b"], nextToken: "b", complete: true },
      { items: ["item c"], nextToken: undefined, complete: true },
    ]);
  });

  test("shows writes, changes and deletions after the configured delay", async () => {
    const { clock, table } = setUp();
    table.configure({ staleMs: 500 });
    await clock.advance(1_000);
    table.put("a", "changed");
    table.delete("b");
    table.put("d", "new");
    const read = () => [table.get("a"), table.get("b"), table.get("d"), table.page().items.length];
    expect([read(), [...table.contents().keys()]]).toEqual([
      ["item a", "item b", undefined, 3],
      ["a", "c", "d"],
    ]);
    await clock.advance(499);
    expect(read()).toEqual(["item a", "item b", undefined, 3]);
    await clock.advance(1);
    expect(read()).toEqual(["changed", undefined, "new", 3]);
  });

  test("refuses what is new above the quota, and nothing else", () => {
    const { table } = setUp({ quota: 3, quotaStatus: 422 });
    expect(() => table.put("d", "one too many")).toThrow(
      expect.objectContaining({ status: 422, body: { error: "the quota of 3 is used up" } }),
    );
    expect([table.put("a", "changed"), table.delete("b"), table.delete("b"), table.put("d", "fits")]).toEqual([
      "changed",
      true,
      false,
      "fits",
    ]);
  });

  test("leaves objects out of lists, says so, and still shows them one by one", () => {
    const { table } = setUp({ unlisted: (id) => id === "b" });
    expect([table.page(), table.get("b")]).toEqual([
      { items: ["item a", "item c"], nextToken: undefined, complete: false },
      "item b",
    ]);
  });
});
