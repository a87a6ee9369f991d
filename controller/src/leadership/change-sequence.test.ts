import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import type { Clock } from "../util/clock.ts";
import { ChangeSequence } from "./change-sequence.ts";
import { contractError } from "../provider/model/errors.ts";

let clock: FakeClock;
let log: FakeLog;
beforeEach(() => {
  clock = new FakeClock();
  log = new FakeLog();
});

const stale = (applied?: bigint) =>
  contractError("STALE_GENERATION", "acme: late", {
    metadata: applied === undefined ? {} : { applied_sequence: String(applied) },
  });

describe("ChangeSequence without election", () => {
  test("counts from the present on, and carries what is more than one epoch holds", () => {
    const sequence = new ChangeSequence({ clock, log, isElected: false });
    const first = BigInt(clock.nowMs()) << 20n;
    expect([sequence.next(), sequence.next()]).toEqual([first + 1n, first + 2n]);
    for (let count = 0; count < 2 ** 20; count++) sequence.next();
    expect(sequence.epoch).toBe(clock.nowMs() + 1);
  });

  test("goes above what a provider has applied, at once", () => {
    const sequence = new ChangeSequence({ clock, log, isElected: false });
    const ahead = (BigInt(clock.nowMs() + 5000) << 20n) + 9n;
    sequence.rejected(stale(ahead));
    expect(sequence.next()).toBeGreaterThan(ahead);
    expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });
});

describe("ChangeSequence with election", () => {
  test.each<[string, string | undefined, (epoch: number) => number]>([
    ["one more than its own when no sequence is reported", undefined, (epoch) => epoch + 1],
    ["one more than its own when an invalid one is reported", "18446744073709551615", (epoch) => epoch + 1],
    ["one more than its own when no number is reported", "many", (epoch) => epoch + 1],
    ["nothing when the change was of an earlier epoch", String(5n << 20n), () => 0],
  ])("wants %s", (_, applied, wanted) => {
    const sequence = new ChangeSequence({ clock, log, isElected: true });
    sequence.establish(clock.nowMs(), Number.POSITIVE_INFINITY);
    const metadata = applied === undefined ? {} : { applied_sequence: applied };
    sequence.rejected(contractError("STALE_GENERATION", "late", { metadata }));
    expect(sequence.requiredEpoch).toBe(wanted(clock.nowMs()));
    expect(sequence.epoch).toBe(clock.nowMs());
  });

  test("refuses changes with an error that passes, and says why", async () => {
    const sequence = new ChangeSequence({ clock, log, isElected: true });
    const refused = expect.objectContaining({
      code: "UNAVAILABLE",
      class: "TRANSIENT",
      message: expect.stringContaining("may no longer be the leader"),
    });
    expect(() => sequence.next()).toThrow(refused);
    sequence.establish(clock.nowMs(), 1000);
    expect(() => sequence.check()).not.toThrow();
    await clock.advance(1000);
    expect(() => sequence.check()).toThrow(refused);
    sequence.establish(clock.nowMs(), 5000);
    sequence.suspend();
    expect(() => sequence.next()).toThrow(refused);
  });

  test("refuses changes when only the wall clock has gone on: the machine stood still", () => {
    let wallMs = clock.nowMs();
    const own: Clock = {
      nowMs: () => wallMs,
      monotonicMs: () => clock.monotonicMs(),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    };
    const sequence = new ChangeSequence({ clock: own, log, isElected: true });
    sequence.establish(wallMs, 15_000);
    wallMs += 14_999;
    expect(() => sequence.check()).not.toThrow();
    wallMs += 1;
    expect(() => sequence.check()).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    sequence.establish(wallMs, 15_000);
    wallMs -= 3_600_000;
    expect(() => sequence.check()).not.toThrow();
  });
});

test.each([
  ["the last epoch", 2n ** 63n - 1n],
  ["the one before", (2n ** 43n - 2n) << 20n],
  ["an epoch beyond all", 2n ** 64n - 1n],
  ["an epoch of the next century but one", BigInt(Date.UTC(2200, 0, 1)) << 20n],
])("ChangeSequence takes %s for a fault of the provider that names it, and goes on", (_, applied) => {
  const sequence = new ChangeSequence({ clock, log, isElected: false });
  for (let life = 0; life < 3; life++) {
    sequence.rejected(stale(applied));
    expect(sequence.epoch).toBe(clock.nowMs() + 1 + life);
  }
  expect(sequence.next()).toBe((BigInt(clock.nowMs() + 3) << 20n) + 1n);
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([
    {
      level: "error",
      message: expect.stringContaining("invalid change epoch"),
      fields: { source: expect.stringContaining("acme: late"), epoch: Number(applied >> 20n) },
    },
  ]);
});
