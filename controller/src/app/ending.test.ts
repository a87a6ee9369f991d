import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { endInOrder } from "./ending.ts";

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
  const ended = endInOrder({
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

test.each([undefined, ...ALL])("endInOrder() takes every step in order when %s fails", async (failing) => {
  const { log, steps, ended } = end(failing);
  await ended;
  expect(steps).toEqual(ALL);
  expect(log.messages("warn")).toHaveLength(failing === undefined ? 0 : 1);
  expect(log.messages("info")).toEqual(["Ended"]);
});

test("endInOrder() serves webhooks until the API server asks elsewhere", async () => {
  const { clock, steps, ended } = end(undefined, true, 1000);
  await clock.advance(3999);
  expect(steps).toEqual(["events", "tasks"]);
  await clock.advance(1);
  await ended;
  expect(steps).toEqual(ALL);
});

test("endInOrder() waits for nobody when the drain took long enough", async () => {
  const { clock, steps, ended } = end(undefined, true, 15_000);
  await clock.advance(0);
  await ended;
  expect(steps).toEqual(ALL);
});
