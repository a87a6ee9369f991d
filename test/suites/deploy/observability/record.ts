// `npm run recording -w @cloudwire/test`: three quarters of an hour of the real programs, with faults, for the tests of alerts and dashboards.
import { writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { ObservedHarness } from "./observed-harness.ts";
import { samplesOf } from "./exposition.ts";
import { JOB, RECORDING_FILE } from "./recording.ts";
import { toNotation, type Values } from "./series-notation.ts";

const STEP_SECONDS = 30;
const STEPS_A_MINUTE = 2;
const END_MINUTE = 42;

/** No alert or dashboard queries them, and they are most of the series. */
const LEFT_OUT = /^(?:nodejs_(?!eventloop_lag_p99_seconds|heap_size_used_bytes)|rest_client_\w+_bytes|\w+_created\b)/;

interface Act {
  readonly minute: number;
  /** Phase that it begins. */
  readonly phase?: string;
  readonly act: (harness: ObservedHarness) => Promise<unknown>;
}

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

const LOST = numbered("node", 8);

const ACTS: readonly Act[] = [
  {
    minute: 0,
    phase: "healthy",
    act: async (harness) => {
      await harness.addNodes(numbered("node", 20));
      for (const name of numbered("web", 3)) harness.addService(name);
    },
  },
  { minute: 3, act: (harness) => harness.addNodes(["grown-1", "grown-2"]) },
  { minute: 5, act: async (harness) => harness.addService("shop") },
  {
    minute: 7,
    phase: "providerGone",
    act: async (harness) => {
      await harness.stopProvider();
      await harness.spoilConfig();
    },
  },
  {
    minute: 13.5,
    phase: "afterProviderGone",
    act: async (harness) => {
      await harness.mendConfig();
      await harness.startProvider();
    },
  },
  { minute: 14, act: (harness) => harness.admin.addFault({ kind: "rateLimited", durationMs: 45_000 }) },
  {
    minute: 15.5,
    phase: "credentialsRefused",
    act: async (harness) => {
      await harness.admin.addFault({ kind: "unauthenticated" });
      harness.register("late");
      harness.addService("late");
    },
  },
  {
    minute: 27,
    phase: "afterCredentialsRefused",
    act: async (harness) => {
      await harness.admin.clearFaults();
      await harness.addMachine("late");
    },
  },
  {
    minute: 28,
    phase: "machinesLost",
    act: async (harness) => {
      await harness.admin.change({ quotas: { routes: 26 } });
      await harness.lose(LOST);
    },
  },
  {
    minute: 39.5,
    phase: "afterMachinesLost",
    act: async (harness) => {
      await harness.admin.resetSettings();
      for (const name of LOST) await harness.removeNode(name);
    },
  },
];

async function main(): Promise<void> {
  await using harness = await ObservedHarness.start();
  const series = new Map<string, (number | undefined)[]>();
  const phases: Record<string, number> = {};
  const startMs = performance.now();
  for (let step = 0; step <= END_MINUTE * STEPS_A_MINUTE; step += 1) {
    await wait(Math.max(0, startMs + step * STEP_SECONDS * 1000 - performance.now()));
    for (const [name, value] of await scrape(harness)) {
      const values = series.get(name) ?? [];
      while (values.length < step) values.push(undefined);
      series.set(name, [...values, Number.isFinite(value) ? value : undefined]);
    }
    for (const { minute, phase, act } of ACTS) {
      if (minute * STEPS_A_MINUTE !== step) continue;
      await act(harness);
      if (phase !== undefined) phases[phase] = step * STEP_SECONDS;
      console.log(`minute ${minute}: ${phase ?? "more to do"}`);
    }
  }
  const written = [...series].toSorted(([left], [right]) => left.localeCompare(right, "en"));
  const notation = written.map(([name, values]: readonly [string, Values]) => [name, toNotation(values)]);
  const recording = { stepSeconds: STEP_SECONDS, phases, series: Object.fromEntries(notation) };
  await writeFile(RECORDING_FILE, `${JSON.stringify(recording, undefined, 2)}\n`);
}

/** A replica that does not answer is down, as Prometheus says it. */
async function scrape(harness: ObservedHarness): Promise<ReadonlyMap<string, number>> {
  const samples = new Map<string, number>();
  for (const [instance, url] of harness.targets) {
    const text = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(STEP_SECONDS * 500) })
      .then((answer) => answer.text())
      .catch(() => undefined);
    samples.set(`up{job="${JOB}",instance="${instance}"}`, text === undefined ? 0 : 1);
    for (const [name, value] of samplesOf(text ?? "", { job: JOB, instance }))
      if (!LEFT_OUT.test(name)) samples.set(name, Number(value));
  }
  return samples;
}

await main();
