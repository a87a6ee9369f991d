import { setTimeout as wait } from "node:timers/promises";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { methods } from "../../contract/methods.ts";
import type { Connection } from "../../endpoint/connection.ts";
import { instanceWatch, lookMs, type Watch, withWatch } from "./watching.ts";

const base = {
  level: "R",
  profile: "instances-watch",
  timeoutMs: 180_000,
} as const;
const firstCheck = "watch.initial.end";

const cycles = 300;
const workers = 10;
const mostFiles = 50;
const mostMebibytes = 96;

/** Opens and cancels many watches; every tenth is read from first, every other wants no initial events. */
const churn = async (context: CheckContext, count: number, connection = context.connect()): Promise<void> => {
  const rounds = Array.from({ length: count }, (_, index) => index).values();
  const come = async (round: number): Promise<void> =>
    withWatch(instanceWatch, context, async (watch) => void (await watch.next(round % 10 === 0 ? 5_000 : 1)), {
      connection,
      ...(round % 2 === 1 && { request: {} }),
    });
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const round of rounds) await come(round);
    }),
  );
};

const askStatus = async (context: CheckContext, connection: Connection, what: string): Promise<void> => {
  const options = { connection, deadlineMs: 5_000 * context.slowFactor };
  const called = await context.caller.call(methods.getProviderStatus, { context: context.callContext }, options);
  expectOk(called, what);
};

/** The machines that a reader sees who has stood still; undefined: the provider has ended the stream, as it may. */
const readOn = async (watch: Watch): Promise<readonly string[] | undefined> => {
  const read = await watch.snapshotOrEnd();
  if ("objects" in read) return [...read.objects.keys()].toSorted();
  // WAT-5 lets a provider end it, and any connection may break.
  expectError(read, { codes: [8, 14] }, "a watch that stood still");
  return undefined;
};

const stalledReaders = 20;
const askEveryMs = 100;

const standStill = async (context: CheckContext): Promise<void> => {
  const [stalled, other] = [context.connect(), context.connect()];
  await stalled.allow(0);
  const goOn = Promise.withResolvers<void>();
  const endMs = performance.now() + (context.long ? 60_000 : 3_000) * context.slowFactor;
  const asking = async (): Promise<void> => {
    while (performance.now() < endMs) {
      await askStatus(context, other, "the status beside watches that no client reads");
      await wait(askEveryMs, undefined, { signal: context.signal });
    }
    await stalled.allow(2 ** 22);
    goOn.resolve();
  };
  const reading = async (watch: Watch) => {
    await goOn.promise;
    return readOn(watch);
  };
  const readers = Array.from({ length: stalledReaders }, () =>
    withWatch(instanceWatch, context, reading, { connection: stalled }),
  );
  const [seen] = await Promise.all([Promise.all(readers), asking()]);
  const whole = await withWatch(instanceWatch, context, (watch) => watch.snapshot());
  const expected = show([...whole.objects.keys()].toSorted());
  for (const keys of seen)
    if (keys !== undefined && show(keys) !== expected)
      fail({ message: "a watch that stood still misses machines", expected, got: show(keys) });
};

/** Watches that come and go, and watches that no client reads. */
export const watchLoadChecks: readonly Check[] = [
  {
    ...base,
    id: "watch.cancel.leak",
    title: `after ${cycles} watches that were opened and cancelled the next one is served as the first`,
    rules: ["WAT-5", "TRN-6"],
    why: "Controllers come back after every break: what stays behind of each watch ends the process in a week.",
    requires: [firstCheck],
    exclusive: true,
    run: async (context) => {
      const used = context.connect();
      await churn(context, cycles, used);
      for (const connection of [used, context.connect()]) {
        await withWatch(instanceWatch, context, (watch) => watch.snapshot(), { connection });
        await askStatus(context, connection, `the status after ${cycles} watches`);
      }
    },
  },
  {
    ...base,
    id: "watch.cancel.memory",
    title: `${cycles} watches that were opened and cancelled leave no files open and no memory taken`,
    rules: ["WAT-5"],
    why: "A subscriber that is never removed receives every change forever.",
    requires: [firstCheck],
    hooks: ["procStats"],
    exclusive: true,
    run: async (context) => {
      // What is made once and kept is made now.
      await churn(context, cycles);
      const before = await context.hooks.procStats();
      await churn(context, cycles);
      // Descriptors close a moment after the stream.
      await withWatch(instanceWatch, context, (watch) => watch.during(lookMs(context)));
      const after = await context.hooks.procStats();
      const files = after.openFiles - before.openFiles;
      const mebibytes = Math.round((after.rssBytes - before.rssBytes) / 2 ** 20);
      const problems = [
        ...(files > mostFiles ? [`${files} more files are open`] : []),
        ...(mebibytes > mostMebibytes ? [`${mebibytes} MiB more are taken`] : []),
      ];
      const expected = `at most ${mostFiles} files and ${mostMebibytes} MiB`;
      expectNone(problems, "watches leave something behind", { expected });
    },
  },
  {
    ...base,
    id: "watch.slow",
    title: `${stalledReaders} watches whose reader stands still hold up no other call, and then miss nothing`,
    rules: ["WAT-5", "CON-2"],
    why: "A controller that is throttled must not stop the others. Usually there is a worker per stream, of a few. --long stands still for 60 s.",
    requires: [firstCheck],
    exclusive: true,
    run: standStill,
  },
];
