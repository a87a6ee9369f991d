import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { HoldBudget } from "./call-budget.ts";

const never = new AbortController().signal;

let clock: FakeClock;
let budget: HoldBudget;

beforeEach(() => {
  clock = new FakeClock();
  budget = new HoldBudget("acme", clock);
});

describe("HoldBudget", () => {
  test("lets every call go until the provider says wait", async () => {
    await expect(budget.acquire("low", "instances", never)).resolves.toBeUndefined();
  });

  test("waits a short hold out", async () => {
    budget.hold("instances", 3000);
    let gone = false;
    void budget.acquire("high", "instances", never).then(() => (gone = true));
    await clock.advance(2999);
    expect(gone).toBe(false);
    await clock.advance(1);
    expect(gone).toBe(true);
  });

  test("sends callers away during a long hold, and tells them when to come back", async () => {
    budget.hold("instances", 60_000);
    await clock.advance(20_000);
    await expect(budget.acquire("high", "instances", never)).rejects.toMatchObject({
      reason: "RATE_LIMITED",
      class: "WAIT",
      retryAfterMs: 40_000,
    });
  });

  test("holds one group and no other", async () => {
    budget.hold("instances", 60_000);
    await expect(budget.acquire("high", "loadBalancers", never)).resolves.toBeUndefined();
  });

  test("a shorter hold does not end a longer one, and none is longer than ten minutes", async () => {
    budget.hold("routes", 86_400_000);
    budget.hold("routes", 1000);
    await expect(budget.acquire("high", "routes", never)).rejects.toMatchObject({ retryAfterMs: 600_000 });
  });

  test("one that gives up while waiting gets the signal's reason and leaves no timer", async () => {
    budget.hold("instances", 3000);
    const impatient = new AbortController();
    const waiting = budget.acquire("high", "instances", impatient.signal);
    await settle();
    impatient.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(clock.timers).toBe(0);
  });
});
