import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { eventually } from "../../test/support/poll.ts";
import { providerInfo, providerStatus, ScriptedProvider } from "../../test/support/provider/scripted-provider.ts";
import type { Options } from "../app/options.ts";
import { parseCommand } from "../app/options.ts";
import { ChangeSequence } from "../leadership/change-sequence.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import { systemClock } from "../util/clock.ts";
import { connectProviders, type Providers } from "./providers.ts";

let directory: string;
let stop: AbortController;
let running: Promise<void>;
let side: Providers;
let log: FakeLog;
const started: ScriptedProvider[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ps-"));
  stop = new AbortController();
  log = new FakeLog();
  side = connectProviders({
    options: optionsOf(`--provider=east=unix://${socketOf("east")}`, `--provider=west=unix://${socketOf("west")}`),
    cluster: { id: "c", name: "c" },
    version: "1",
    metrics: new Metrics(),
    log,
    clock: systemClock(),
    random: () => 0,
    newId: randomUUID,
    userId: undefined,
    signal: stop.signal,
    companions: () => [],
    nodes: () => [],
    tracing: NO_TRACING,
    numbers: new ChangeSequence({ clock: systemClock(), log, isElected: true }),
    scopeRemedy: () => () => "it is accepted",
    onScopeChanged: () => undefined,
  });
  running = side.run(stop.signal);
});
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await running;
  for (const provider of started.splice(0)) await provider[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const socketOf = (name: string): string => join(directory, `${name}.sock`);

function optionsOf(...args: readonly string[]): Options {
  const command = parseCommand({ args, environment: {}, readText: () => "" }, new Set());
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

async function start(name: string, prefix = `${name}://`, ready = true): Promise<void> {
  const provider = await ScriptedProvider.start(socketOf(name), {
    getProviderInfo: () => providerInfo({ providerIdPrefixes: [prefix] }),
    getProviderStatus: () => providerStatus({ ready }),
  });
  started.push(provider);
}

test("is of use as long as one provider can be used, and says what is wrong with each", async () => {
  await eventually("both to be missed", () => /east: .*east\.sock.*west: .*west\.sock/.test(side.problem() ?? ""));
  await start("west");
  await eventually("one to be there", () => side.problem() === undefined && side.warning("west") === undefined);
  expect(side.warning("east")).toContain("east.sock");
  await start("east", "east://", false);
  await eventually("the other one's cloud to be away", () => side.warning("east")?.includes("not ready") === true);
  expect([side.problem(), side.warning("west")]).toEqual([undefined, undefined]);
});

test("warns of what two providers declare, with each of them and in the log", async () => {
  await Promise.all([start("east", "acme://"), start("west", "acme://")]);
  const conflict = "providers east and west have the same provider-ID prefix acme://";
  await eventually("it to be noticed", () => side.warning("west")?.includes(conflict) === true);
  expect(side.warning("east")).toContain(conflict);
  expect(side.problem()).toBeUndefined();
  await eventually("the log to say so", () =>
    log.lines.some(({ level, fields }) => level === "error" && String(fields["detail"]).includes(conflict)),
  );
});

test("continues when a listener fails: the provider stays usable, and the next listener is called", async () => {
  let heard = 0;
  side.onReady(() => {
    throw new TypeError("a bug");
  });
  side.onReady(() => void heard++);
  await start("east");
  await eventually("the other listener to hear", () => heard > 0);
  expect([side.problem(), side.warning("east")]).toEqual([undefined, undefined]);
  expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { err: { message: "a bug" } } }]);
});
