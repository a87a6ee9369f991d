import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import { Prometheus } from "./observability/prometheus.ts";
import { promtool } from "./observability/promtool.ts";
import { JOB, lengthOf, openMetrics, readRecording } from "./observability/recording.ts";

const DASHBOARDS = fileURLToPath(new URL("../../../deploy/observability/dashboards/", import.meta.url));

/** Blocks of Prometheus begin every two hours: the recording is to be in one, and not in the future. */
const BLOCK_SECONDS = 7200;

const PREPARED_MS = 120_000;

/** What Grafana puts in for variables, with all replicas and providers chosen. */
const VARIABLES: Readonly<Record<string, string>> = {
  job: JOB,
  instance: ".+",
  provider: ".+",
  __rate_interval: "2m",
};

interface Asked {
  readonly title: string;
  readonly expr: string;
}

const files = globSync("*.json", { cwd: DASHBOARDS });

let directory: string;
let prometheus: Prometheus;
let start: number;
let end: number;
let step: number;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "dashboards-"));
  const recording = await readRecording();
  start = (Math.floor(Date.now() / 1000 / BLOCK_SECONDS) - 1) * BLOCK_SECONDS;
  end = start + lengthOf(recording);
  step = recording.stepSeconds;
  const [input, data] = [join(directory, "recording.txt"), join(directory, "data")];
  await writeFile(input, openMetrics(recording, start));
  const { code, output } = await promtool(["tsdb", "create-blocks-from", "openmetrics", input, data]);
  if (code !== 0) throw new Error(`promtool does not take the recording: ${output}`);
  prometheus = await Prometheus.start({ directory, config: {} });
}, PREPARED_MS);

afterAll(async () => {
  await prometheus[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function asked(dashboard: unknown): readonly Asked[] {
  return listOf(at(dashboard, "panels")).flatMap((panel) =>
    listOf(at(panel, "targets")).map((target) => ({
      title: String(at(panel, "title")),
      expr: String(at(target, "expr")).replaceAll(/\$(\w+)/g, (all, name: string) => VARIABLES[name] ?? all),
    })),
  );
}

describe.each(files)("the dashboard %s", (file) => {
  test("finds something in a recorded run with every query", async () => {
    const queries = asked(JSON.parse(await readFile(join(DASHBOARDS, file), "utf8")));
    expect(queries.length).toBeGreaterThan(10);
    const empty: Asked[] = [];
    for (const query of queries)
      if ((await prometheus.count(query.expr, { start, end, step })) === 0) empty.push(query);
    expect(empty).toEqual([]);
  });
});

test("a query of what was not recorded finds nothing", async () => {
  expect(await prometheus.count(`sum(cloudwire_nodes{job="${JOB}",state="lost"})`, { start, end, step })).toBe(0);
});
