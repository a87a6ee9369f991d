import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { ObservedHarness } from "./observability/observed-harness.ts";
import { Prometheus } from "./observability/prometheus.ts";
import { promtool } from "./observability/promtool.ts";
import { type Firing, JOB, playedBack, readRecording } from "./observability/recording.ts";

const RULES = fileURLToPath(new URL("../../../deploy/observability/alerts.yaml", import.meta.url));
const TRIALS = fileURLToPath(new URL("../../../deploy/observability/alerts.test.yaml", import.meta.url));

/** Upstream's label and Node's gauges have their names for good. */
const NOT_OURS =
  /^(?:nodejs_active_\w+_total non-counter metrics|node_ipam_controller_cidrset_\w+ label names should be written in 'snake_case')|^node_ipam_controller_cirdset_max_cidrs label/;

const PATIENCE_MS = 120_000;

/**
 * By the second of the recording; recording.json has when each phase began. One Service of that run was without a load balancer for most
 * of the time, for another program had its port: ten minutes without another fault are enough for its alert.
 */
const FIRING: Firing = new Map([
  [420, []],
  [810, ["CloudwireConfigRejected", "CloudwireProviderUnusable"]],
  [930, []],
  [
    1620,
    [
      "CloudwireCloudNotReady",
      "CloudwireCredentialsInvalid",
      "CloudwireNodesUninitialized",
      "CloudwireServicesWithoutLoadBalancer",
      "CloudwireLeaderHandoverPending",
    ],
  ],
  [2100, ["CloudwireTooManyNodeDeletions"]],
  [2520, ["CloudwireServicesWithoutLoadBalancer"]],
]);

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "alerts-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe("the alert rules", () => {
  test("can be read by Prometheus", async () => {
    expect(await promtool(["check", "rules", RULES])).toMatchObject({ code: 0 });
  });

  test("fire, stay silent and end as their trials say", async () => {
    expect(await promtool(["test", "rules", TRIALS])).toMatchObject({ code: 0 });
  });

  test("are found out when one of them says something else", async () => {
    const spoiled = (await readFile(RULES, "utf8")).replace("== 0", "== 2");
    const [someTrials = ""] = (await readFile(TRIALS, "utf8")).split("  - name: CloudwireLeaderFlapping");
    await writeFile(join(directory, "alerts.yaml"), spoiled);
    await writeFile(join(directory, "alerts.test.yaml"), someTrials);
    const { code, output } = await promtool(["test", "rules", join(directory, "alerts.test.yaml")]);
    expect(code).toBe(1);
    expect(output).toContain("alertname: CloudwireReplicaDown");
    expect(output).not.toContain("alertname: CloudwireNoLeader");
  });

  test("raise in a recorded run what is at fault, and nothing before", async () => {
    const file = join(directory, "recording.json");
    await writeFile(file, JSON.stringify(playedBack(await readRecording(), RULES, FIRING)));
    expect(await promtool(["test", "rules", file])).toMatchObject({ code: 0 });
  });

  test("are found out when the recording says otherwise", async () => {
    const recording = await readRecording();
    const spared = Object.entries(recording.series).filter(
      ([id]) => !id.startsWith("cloudwire_node_deletion_circuit_open{"),
    );
    const file = join(directory, "spared.json");
    await writeFile(
      file,
      JSON.stringify(playedBack({ ...recording, series: Object.fromEntries(spared) }, RULES, FIRING)),
    );
    const { code, output } = await promtool(["test", "rules", file]);
    expect(code).toBe(1);
    expect(output).toContain("CloudwireTooManyNodeDeletions");
  });
});

describe("a real Prometheus that reads the real programs", () => {
  let harness: ObservedHarness;
  let prometheus: Prometheus;

  beforeAll(async () => {
    harness = await ObservedHarness.start();
    await harness.addNodes(["node-1", "node-2"]);
    harness.addService("web");
    await harness.settled();
    const targets = [...harness.targets].map(([instance, url]) => ({
      targets: [new URL(url).host],
      labels: { instance },
    }));
    prometheus = await Prometheus.start({
      directory,
      config: {
        global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
        rule_files: [RULES],
        scrape_configs: [{ job_name: JOB, static_configs: targets }],
      },
    });
    await prometheus.scraped(targets.length);
  }, PATIENCE_MS);

  afterAll(async () => {
    await prometheus[Symbol.asyncDispose]();
    await harness[Symbol.asyncDispose]();
  });

  const FAULTS = ["CloudwireConfigRejected", "CloudwireProviderUnusable"];

  /** Waits until what there is of alerts, coming or there, is as it should be. */
  async function alertsAre(what: string, isRight: (names: readonly string[]) => boolean): Promise<void> {
    let seen: readonly string[] = [];
    await eventually(
      what,
      PATIENCE_MS,
      async () => {
        seen = await prometheus.alerts("pending", "firing");
        return isRight(seen) ? true : undefined;
      },
      () => seen.join("\n"),
    );
  }

  test("sees alerts coming in a fault, and none before and after it", async () => {
    await alertsAre("no alert", (names) => names.length === 0);
    await harness.spoilConfig();
    await harness.stopProvider();
    await alertsAre("alerts of the fault", (names) => FAULTS.every((name) => names.includes(name)));
    await harness.mendConfig();
    await harness.startProvider();
    await alertsAre("an end of the alerts", (names) => !FAULTS.some((name) => names.includes(name)));
    expect(await prometheus.alerts("firing")).toEqual([]);
  }, 400_000);

  test("is shown nothing that promtool objects to, but names that are upstream's or the library's", async () => {
    for (const url of [...harness.targets.values(), harness.providerUrl]) {
      const page = await (await fetch(`${url}/metrics`)).text();
      const { output } = await promtool(["check", "metrics"], page);
      expect(page).toContain("# TYPE cloudwire_");
      const objections = output.split("\n").filter((line) => line !== "" && !NOT_OURS.test(line));
      expect(objections).toEqual([]);
    }
  });
});
