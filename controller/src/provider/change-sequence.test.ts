import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { ChangeSequence } from "./change-sequence.ts";
import { contractError } from "./errors.ts";

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
    sequence.refused(stale(ahead));
    expect(sequence.next()).toBeGreaterThan(ahead);
    expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });
});

describe("ChangeSequence with election", () => {
  test.each<[string, string | undefined, (epoch: number) => number]>([
    ["one more than its own when it is not told which", undefined, (epoch) => epoch + 1],
    ["one more than its own when it is told nonsense", "18446744073709551615", (epoch) => epoch + 1],
    ["one more than its own when it is told no number", "many", (epoch) => epoch + 1],
    ["nothing when the change was of an earlier epoch", String(5n << 20n), () => 0],
  ])("wants %s", (_, applied, wanted) => {
    const sequence = new ChangeSequence({ clock, log, isElected: true });
    sequence.establish(clock.nowMs(), Number.POSITIVE_INFINITY);
    const metadata = applied === undefined ? {} : { applied_sequence: applied };
    sequence.refused(contractError("STALE_GENERATION", "late", { metadata }));
    expect(sequence.wantedEpoch).toBe(wanted(clock.nowMs()));
    expect(sequence.epoch).toBe(clock.nowMs());
  });

  test("refuses changes with an error that passes, and says why", async () => {
    const sequence = new ChangeSequence({ clock, log, isElected: true });
    const refused = expect.objectContaining({
      code: "UNAVAILABLE",
      class: "TRANSIENT",
      message: expect.stringContaining("not certain that this process still leads"),
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
});
