import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { DriftWatch } from "./drift-watch.ts";

const PERIOD_MS = 600_000;
const drift = { kind: "changed", what: "it was changed" } as const;
const repair = { vanished: "repair", changed: "repair" };

describe("DriftWatch", () => {
  test("takes an interest in what is suspected, and wakes it", () => {
    const watch = new DriftWatch(new FakeClock(), { periodMs: PERIOD_MS });
    const woken: unknown[] = [];
    const end = watch.listen((key, delayMs) => woken.push([key, delayMs]));
    watch.suspect("a", 7);
    end();
    watch.suspect("b", 8);
    expect(woken).toEqual([["a", 7]]);
    expect([watch.suspicion("a"), watch.suspicion("b"), watch.suspicion("c")]).toEqual([repair, repair, undefined]);
  });

  test.each([
    { it: "it was found steady", act: (watch: DriftWatch) => watch.steady("a") },
    { it: "it was repaired", act: (watch: DriftWatch) => watch.repaired("a") },
    { it: "it was left as it is", act: (watch: DriftWatch) => watch.left("a", drift, "later") },
    { it: "its wish is another", act: (watch: DriftWatch) => watch.forget("a") },
  ])("suspects nothing any more when $it", ({ act }) => {
    const watch = new DriftWatch(new FakeClock(), { periodMs: PERIOD_MS });
    watch.suspect("a", 0);
    act(watch);
    expect(watch.suspicion("a")).toBeUndefined();
  });

  test("counts repairs until it is found steady half a period after the last", async () => {
    const clock = new FakeClock();
    const watch = new DriftWatch(clock, { periodMs: PERIOD_MS });
    const verdict = () => {
      watch.suspect("a", 0);
      return watch.suspicion("a")?.changed;
    };
    watch.repaired("a");
    expect(verdict()).toBe("later");
    await clock.advance(PERIOD_MS / 2 - 1);
    watch.steady("a");
    expect(verdict()).toBe("later");
    await clock.advance(1);
    watch.repaired("a");
    await clock.advance(PERIOD_MS);
    expect(verdict()).toBe("later");
    watch.steady("a");
    expect(verdict()).toBe("repair");
  });

  test("rests after five repairs, until the wish is another", async () => {
    const clock = new FakeClock();
    const watch = new DriftWatch(clock, { periodMs: PERIOD_MS });
    for (let count = 0; count < 5; count += 1) watch.repaired("a");
    await clock.advance(80_000_000);
    watch.suspect("a", 0);
    expect(watch.suspicion("a")?.changed).toBe("rest");
    watch.left("a", drift, "rest");
    expect([watch.resting("a"), watch.resting("b")]).toEqual([drift, undefined]);
    watch.forget("a");
    watch.suspect("a", 0);
    expect([watch.resting("a"), watch.suspicion("a")]).toEqual([undefined, repair]);
  });

  test.each([
    { it: "steady", act: (watch: DriftWatch) => watch.steady("a"), want: undefined },
    { it: "repaired", act: (watch: DriftWatch) => watch.repaired("a"), want: undefined },
    { it: "left for a later sweep", act: (watch: DriftWatch) => watch.left("a", drift, "later"), want: drift },
  ])("rests on until it is found otherwise: $it", ({ act, want }) => {
    const watch = new DriftWatch(new FakeClock(), { periodMs: PERIOD_MS });
    watch.left("a", drift, "rest");
    act(watch);
    expect(watch.resting("a")).toEqual(want);
  });
});
