import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { AnswerCache } from "./instance-batcher.ts";
import type { InstanceAnswer } from "../model/instance.ts";

const stop = new AbortController();
const clock = (): FakeClock => new FakeClock();

/** The machine as it was `ageMs` ago. */
function absent(at: FakeClock, ageMs = 0): InstanceAnswer {
  const witness = { provider: "acme", scopeId: "", bootId: "", receivedAtMs: at.nowMs() };
  return { kind: "absent", basis: "lookupMiss", observeTimeMs: at.nowMs() - ageMs, strong: true, witness };
}

describe("AnswerCache", () => {
  test("returns an answer to callers that accept its age, and to none that requires a new read", async () => {
    const time = clock();
    const cache = new AnswerCache(time, stop.signal);
    const answer = absent(time, 500);
    cache.put("a", answer);
    await time.advance(1000);
    expect([cache.get("a", 1500), cache.get("a", 1499), cache.get("a", 0), cache.get("b", 1500)]).toEqual([
      answer,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("keeps the answer that rests on the newer look, and none that rests on no look", () => {
    const time = clock();
    const cache = new AnswerCache(time, stop.signal);
    const newer = absent(time, 100);
    cache.put("a", newer);
    cache.put("a", absent(time, 200));
    cache.put("b", { kind: "notOwned", message: "" });
    expect([cache.get("a", 30_000), cache.size]).toEqual([newer, 1]);
  });

  test("drops each answer some seconds after it came, and its timer after the last one", async () => {
    const time = clock();
    const cache = new AnswerCache(time, stop.signal);
    cache.put("a", absent(time));
    cache.put("b", absent(time));
    await time.advance(9000);
    cache.put("b", absent(time));
    const sizes = [cache.size];
    await time.advance(1000);
    sizes.push(cache.size);
    await time.advance(9000);
    sizes.push(cache.size);
    expect([sizes, time.timers]).toEqual([[2, 1, 0], 0]);
  });

  test("has no timer left when the process stops", () => {
    const time = clock();
    const stopping = new AbortController();
    new AnswerCache(time, stopping.signal).put("a", absent(time));
    stopping.abort();
    expect(time.timers).toBe(0);
  });
});
