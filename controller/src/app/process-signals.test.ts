import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { handleSignals } from "./process-signals.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

function handle(reload?: () => void) {
  const process = new FakeProcess();
  const clock = new FakeClock();
  const log = new FakeLog();
  return { process, clock, log, stop: handleSignals({ process, clock, log, reload }) };
}

describe("handleSignals()", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("asks to end when %s comes", (signal) => {
    const { process, stop } = handle();
    process.emit(signal);
    expect({ reason: stop.reason, exits: process.exits }).toEqual({
      reason: new Error(`received ${signal}`),
      exits: [],
    });
  });

  test.each([
    ["SIGTERM", "SIGTERM", 143],
    ["SIGTERM", "SIGINT", 130],
    ["SIGHUP", "SIGHUP", 129],
  ])(
    "ends at once when %s is followed by %s, but for one that comes twice in a moment",
    async (first, second, code) => {
      const { process, clock } = handle();
      process.emit(first);
      await clock.advance(499);
      process.emit(second);
      expect(process.exits).toEqual([]);
      await clock.advance(1);
      process.emit(second);
      expect(process.exits).toEqual([code]);
    },
  );

  test("reloads, however often, when SIGHUP comes and there is something to read again", () => {
    let reloads = 0;
    const { process, stop } = handle(() => reloads++);
    process.emit("SIGHUP");
    process.emit("SIGHUP");
    expect({ reloads, aborted: stop.aborted, exits: process.exits }).toEqual({ reloads: 2, aborted: false, exits: [] });
  });

  test("tells what nobody caught and ends at once", () => {
    const { process, log } = handle();
    const fault = new TypeError("x is undefined");
    process.emit("uncaughtException", fault, "unhandledRejection");
    expect(process.exits).toEqual([70]);
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ origin: "unhandledRejection", err: fault }]);
  });
});
