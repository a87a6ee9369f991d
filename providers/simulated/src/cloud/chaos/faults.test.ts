import { describe, expect, test } from "vitest";
import type { FaultSpec } from "../../api/admin.ts";
import { manualClock } from "../../test/manual-clock.ts";
import { seededRandom } from "../random.ts";
import { Faults } from "./faults.ts";

const geography = [{ name: "north", zones: ["north-a"] }];

function faultsOf(...specs: FaultSpec[]) {
  const clock = manualClock();
  const faults = new Faults({ now: clock.now, random: seededRandom(1), geography });
  for (const spec of specs) faults.add(spec);
  const strike = (operation: string) => faults.strike(operation).map(({ kind }) => kind);
  return { clock, faults, strike };
}

describe("Faults.strike()", () => {
  test("strikes every operation of its pattern until it is removed", () => {
    const { faults, strike } = faultsOf({ kind: "hang", operation: "instances.*" });
    expect([strike("instances.get"), strike("routes.list"), strike("instances.list")]).toEqual([
      ["hang"],
      [],
      ["hang"],
    ]);
    expect(faults.list()).toMatchObject([{ id: "fault-1", kind: "hang", strikes: 2 }]);
    expect([faults.remove("fault-1"), faults.remove("fault-1")]).toEqual([true, false]);
    expect(strike("instances.get")).toEqual([]);
  });

  test("ends after its count", () => {
    const { strike } = faultsOf({ kind: "reset", count: 2 });
    expect([strike("a.b"), strike("a.b"), strike("a.b")]).toEqual([["reset"], ["reset"], []]);
  });

  test("ends after its duration", () => {
    const { clock, strike } = faultsOf({ kind: "reset", durationMs: 100 });
    clock.advance(99);
    expect(strike("a.b")).toEqual(["reset"]);
    clock.advance(1);
    expect(strike("a.b")).toEqual([]);
  });

  test("strikes with its probability", () => {
    const { faults } = faultsOf({ kind: "internalError", probability: 0.3 });
    const struck = Array.from({ length: 2000 }, () => faults.strike("a.b").length).filter((count) => count > 0);
    expect(struck.length / 2000).toBeCloseTo(0.3, 1);
  });

  test("lets several faults strike at once", () => {
    const { strike } = faultsOf({ kind: "emptyList" }, { kind: "zoneOutage", zone: "north-a" });
    expect(strike("instances.list")).toEqual(["emptyList", "zoneOutage"]);
  });
});

test.each<[FaultSpec, string]>([
  [{ kind: "zoneOutage" }, "fault zoneOutage: zone is missing"],
  [{ kind: "zoneOutage", zone: "moon" }, 'no zone "moon"; the zones are north-a'],
  [{ kind: "hang", zone: "north-a" }, "fault hang: zone belongs to zoneOutage only"],
  [{ kind: "staleReplica" }, "fault staleReplica: staleMs belongs to staleReplica, and only there"],
  [{ kind: "reset", staleMs: 5 }, "fault reset: staleMs belongs to staleReplica, and only there"],
  [{ kind: "emptyList", phase: "after" }, "fault emptyList: phase after needs a fault that replaces the answer"],
])("Faults.add() refuses %j", (spec, message) => {
  expect(() => faultsOf(spec)).toThrow(message);
});
