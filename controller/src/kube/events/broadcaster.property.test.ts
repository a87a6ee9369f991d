import fc from "fast-check";
import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { serviceReference } from "../../api/service.ts";
import { EventCorrelator, SIMILAR_EVENTS, SIMILAR_WITHIN_MS, SPAM_BURST, SPAM_REFILL_MS } from "./broadcaster.ts";

interface Said {
  readonly object: string;
  readonly reason: string;
  readonly message: string;
  readonly waitMs: number;
}

const history = fc.array(
  fc.record<Said>({
    object: fc.constantFrom("web", "shop"),
    reason: fc.constantFrom("SyncLoadBalancerFailed", "UpdateLoadBalancerFailed"),
    message: fc.integer({ min: 0, max: 30 }).map((number) => `failed at ${number}`),
    // Mostly bursts; now and then a while in which tokens come back, and hardly ever one that ends similarity.
    waitMs: fc.oneof(
      { weight: 20, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 1, max: SPAM_REFILL_MS }) },
      { weight: 1, arbitrary: fc.integer({ min: SIMILAR_WITHIN_MS, max: 2 * SIMILAR_WITHIN_MS }) },
    ),
  }),
  { size: "max", maxLength: 300 },
);

async function correlated(said: readonly Said[]) {
  const clock = new FakeClock();
  const correlator = new EventCorrelator(clock);
  const results = [];
  for (const { object, reason, message, waitMs } of said) {
    await clock.advance(waitMs);
    const regarding = serviceReference(service(object));
    const result = correlator.correlate("c", { regarding, type: "Warning", reason, message });
    results.push({ object, reason, atMs: clock.monotonicMs(), result });
  }
  return results;
}

test("EventCorrelator limits the events of an object to burst and refill, for any events", () =>
  fc.assert(
    fc.asyncProperty(history, async (said) => {
      const sent = (await correlated(said)).filter(({ result }) => result.kind !== "rate_limited");
      const tooMuch = sent.filter(({ object, atMs }, index) => {
        const before = sent.slice(0, index + 1).filter((other) => other.object === object);
        return before.length > SPAM_BURST + Math.floor(atMs / SPAM_REFILL_MS);
      });
      expect(tooMuch).toEqual([]);
    }),
  ));

test("EventCorrelator makes at most ten Events of similar ones that keep coming", () =>
  fc.assert(
    fc.asyncProperty(history, async (said) => {
      const kept = said.map((one) => ({ ...one, waitMs: Math.min(one.waitMs, SIMILAR_WITHIN_MS / 300) }));
      const created = (await correlated(kept)).filter(({ result }) => result.kind === "create");
      const counts = [...Map.groupBy(created, ({ object, reason }) => `${object} ${reason}`).values()];
      expect(Math.max(0, ...counts.map(({ length }) => length))).toBeLessThanOrEqual(SIMILAR_EVENTS);
    }),
  ));

test("EventCorrelator counts every occurrence of an Event, those too many for the server included", () =>
  fc.assert(
    fc.asyncProperty(history, async (said) => {
      const results = await correlated(
        said.map((one) => ({ ...one, reason: "SyncLoadBalancerFailed", message: "no" })),
      );
      const wrong = results.filter(({ object, result }, index) => {
        const occurrences = results.slice(0, index + 1).filter((other) => other.object === object).length;
        return result.kind !== "rate_limited" && result.event.count !== occurrences;
      });
      expect(wrong).toEqual([]);
    }),
  ));
