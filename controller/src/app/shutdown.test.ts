import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Shutdown, shutDown, handleSignals } from "./shutdown.ts";

interface Rig {
  readonly clock: FakeClock;
  readonly log: FakeLog;
  /** Steps in their order. */
  readonly steps: string[];
  readonly ended: Promise<void>;
}

function end(failing: string | undefined, hasWebhooks = false, notReadyForMs = 0): Rig {
  const clock = new FakeClock();
  const log = new FakeLog();
  const steps: string[] = [];
  const step = async (name: string): Promise<void> => {
    steps.push(name);
    if (name === failing) throw new Error(`${name} failed`);
  };
  const ended = shutDown({
    events: { flush: () => step("events") },
    tasks: { stop: () => step("tasks") },
    servers: { close: () => step("servers"), hasWebhooks },
    kube: { close: () => step("connections") },
    notReadyForMs,
    clock,
    log,
  });
  return { clock, log, steps, ended };
}

const ALL = ["events", "tasks", "servers", "connections"];

test.each([undefined, ...ALL])("shutDown() runs every step in order when %s fails", async (failing) => {
  const { log, steps, ended } = end(failing);
  await ended;
  expect(steps).toEqual(ALL);
  expect(log.messages("warn")).toHaveLength(failing === undefined ? 0 : 1);
  expect(log.messages("info")).toEqual(["Shutdown completed"]);
});

test("shutDown() serves webhooks until API servers call other replicas", async () => {
  const { clock, steps, ended } = end(undefined, true, 1000);
  await clock.advance(3999);
  expect(steps).toEqual(["events", "tasks"]);
  await clock.advance(1);
  await ended;
  expect(steps).toEqual(ALL);
});

test("shutDown() does not wait when the drain took long enough", async () => {
  const { clock, steps, ended } = end(undefined, true, 15_000);
  await clock.advance(0);
  await ended;
  expect(steps).toEqual(ALL);
});

describe("Shutdown", () => {
  function begin() {
    const exits: number[] = [];
    const clock = new FakeClock();
    const log = new FakeLog();
    return { shutdown: new Shutdown({ exit: (code) => exits.push(code), clock, log }), exits, clock, log };
  }

  test("begins with the first signal that aborts and is logged once", async () => {
    const { shutdown, clock, log } = begin();
    const [stop, lost] = [new AbortController(), new AbortController()];
    shutdown.follow(stop.signal);
    shutdown.follow(lost.signal);
    expect({ aborted: shutdown.signal.aborted, elapsedMs: shutdown.elapsedMs }).toEqual({
      aborted: false,
      elapsedMs: 0,
    });
    lost.abort(new Error("leadership is lost"));
    await clock.advance(1000);
    stop.abort(new Error("received SIGTERM"));
    expect({ aborted: shutdown.signal.aborted, elapsedMs: shutdown.elapsedMs }).toEqual({
      aborted: true,
      elapsedMs: 1000,
    });
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ detail: "leadership is lost" }]);
  });

  test("begins immediately with an aborted signal", () => {
    const { shutdown } = begin();
    shutdown.follow(AbortSignal.abort(new Error("received SIGTERM")));
    expect(shutdown.signal.aborted).toBe(true);
  });

  test("exits before kubelet kills the process", async () => {
    const { shutdown, exits, clock, log } = begin();
    shutdown.begin(new Error("leadership is lost"));
    await clock.advance(27_999);
    expect(exits).toEqual([]);
    await clock.advance(1);
    expect(exits).toEqual([70]);
    expect(log.messages("error")).toHaveLength(1);
  });

  test("disposes its timers and listeners", async () => {
    const { shutdown, clock, log } = begin();
    const [late, early] = [new AbortController(), new AbortController()];
    shutdown.follow(late.signal);
    shutdown.follow(early.signal);
    early.abort(new Error("received SIGTERM"));
    shutdown[Symbol.dispose]();
    late.abort();
    expect({ timers: clock.timers, messages: log.messages("info") }).toEqual({
      timers: 0,
      messages: ["Shutting down"],
    });
  });
});

describe("process signals", () => {
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
    test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("aborts on %s", (signal) => {
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
    ])("exits immediately when %s is followed by %s, unless it is a duplicate", async (first, second, code) => {
      const { process, clock } = handle();
      process.emit(first);
      await clock.advance(499);
      process.emit(second);
      expect(process.exits).toEqual([]);
      await clock.advance(1);
      process.emit(second);
      expect(process.exits).toEqual([code]);
    });

    test("reloads on each SIGHUP when there is something to reload", () => {
      let reloads = 0;
      const { process, stop } = handle(() => reloads++);
      process.emit("SIGHUP");
      process.emit("SIGHUP");
      expect({ reloads, aborted: stop.aborted, exits: process.exits }).toEqual({
        reloads: 2,
        aborted: false,
        exits: [],
      });
    });

    test("logs an uncaught exception and exits", () => {
      const { process, log } = handle();
      const fault = new TypeError("x is undefined");
      process.emit("uncaughtException", fault, "unhandledRejection");
      expect(process.exits).toEqual([70]);
      expect(log.lines.map(({ fields }) => fields)).toEqual([{ origin: "unhandledRejection", err: fault }]);
    });
  });
});
