import { expect, test } from "vitest";
import { Agenda, type AgendaClock } from "./agenda.ts";

/** Waiting is all that takes time. */
function fakeClock(): AgendaClock {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      nowMs += ms;
    },
  };
}

const never = new AbortController().signal;

test("Agenda.run() does one thing after the other, each when it is due, until the time is over", async () => {
  const clock = fakeClock();
  const done: string[] = [];
  const agenda = new Agenda(clock);
  const note = (what: string) => async () => void done.push(`${what} at ${clock.nowMs()}`);
  agenda.every(40, note("often"));
  agenda.once(50, note("once"));
  agenda.once(5000, note("left over"));
  await agenda.run(100, never);
  expect(done).toEqual(["often at 40", "once at 50", "often at 80", "left over at 100"]);
});

test("Agenda.run() does not make up for what was held up", async () => {
  const clock = fakeClock();
  const done: number[] = [];
  const agenda = new Agenda(clock);
  agenda.every(10, async () => void done.push(clock.nowMs()));
  agenda.once(15, () => clock.wait(50, never));
  await agenda.run(100, never);
  expect(done).toEqual([10, 65, 75, 85, 95]);
});

test("Agenda.run() fails with what fails", async () => {
  const agenda = new Agenda(fakeClock());
  agenda.once(10, () => Promise.reject(new Error("no such node")));
  await expect(agenda.run(100, never)).rejects.toThrow("no such node");
});

test("Agenda.run() ends when it is aborted", async () => {
  const agenda = new Agenda(fakeClock());
  await expect(agenda.run(60_000, AbortSignal.abort())).rejects.toThrow("abort");
});
