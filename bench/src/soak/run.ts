import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildControlPlane } from "@cloudwire/control-plane";
import { eventually } from "@cloudwire/test";
import { seededRandom } from "../lib/random.ts";
import { Agenda } from "./agenda.ts";
import { planChurn } from "./churn.ts";
import { Fleet } from "./fleet.ts";
import { faultsOf, formatRows, checkSamples, logFaults } from "./report.ts";
import type { SoakOptions } from "./options.ts";
import { type Sample, sampleUntil, toCsv } from "./sampler.ts";
import { DesiredServices } from "./desired-services.ts";
import { Site } from "./site.ts";
import { type ActualObjects, differencesFrom, type DesiredObjects } from "./differences.ts";

const CALL_MS = 30_000;
const START_MS = 300_000;
const SETTLE_MS = 180_000;
const SHOWN = 20;

/** Soaks, and says what was wrong; nothing found is a pass. */
export async function soak(
  options: SoakOptions,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<readonly string[]> {
  await buildControlPlane();
  const random = seededRandom(options.seed);
  await using site = await Site.start();
  const fleet = new Fleet(site, random);
  const services = new DesiredServices(site, random);
  const desired = (): DesiredObjects => ({ nodes: fleet.wanted, services: services.wanted });
  const samples: Sample[] = [];
  const faults: string[] = [];
  try {
    await fleet.join(options.nodes);
    for (let made = 0; made < options.services; made += 1) await services.create();
    await site.startSidecar();
    await site.startController();
    await untilReconciled(site, desired, START_MS, stop);
    const leader = await site.leadership();
    say(`${fleet.size} nodes and ${options.services} Services are up to date; the churn begins.`);

    const agenda = new Agenda();
    planChurn({ site, fleet, services, agenda, random }, options);
    const take = (sample: Sample): void => {
      samples.push(sample);
      if (samples.length % 12 === 0) say(progress(sample));
    };
    await churn(site, agenda, options.durationMs, take, stop);
    site.requireRunning();
    await site.admin.clearFaults();

    say("The churn is over; waiting until everything is up to date.");
    await untilReconciled(site, desired, SETTLE_MS, stop);
    const leaderNow = await site.leadership();
    if (leaderNow !== leader) faults.push(`leadership was not kept: ${leader}, then ${leaderNow}`);
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  const rows = samples.length === 0 ? [] : checkSamples(samples);
  faults.push(...faultsOf(rows));
  faults.push(...logFaults("controller", site.controllerOutput), ...logFaults("sidecar", site.sidecarOutput));
  await writeResults(options.out, {
    "samples.csv": toCsv(samples),
    "summary.txt": `${formatRows(rows)}\n${faults.join("\n")}\n`,
    "controller.log": site.controllerOutput,
    "sidecar.log": site.sidecarOutput,
  });
  say(formatRows(rows));
  return faults;
}

/** The churn, with samples taken beside it; a failure of either ends both. */
async function churn(
  site: Site,
  agenda: Agenda,
  durationMs: number,
  take: (sample: Sample) => void,
  stop: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const signal = AbortSignal.any([stop, end.signal]);
  const sampling = sampleUntil(site, signal, take).finally(() => end.abort());
  const working = agenda.run(durationMs, signal).finally(() => end.abort());
  try {
    await Promise.all([working, sampling]);
  } finally {
    await Promise.allSettled([working, sampling]);
    // Says more than the wait that was cut short.
    stop.throwIfAborted();
  }
}

/** Waits until all objects are up to date; fails with the differences. */
async function untilReconciled(
  site: Site,
  desired: () => DesiredObjects,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<void> {
  let left: readonly string[] = [];
  const ask = async (): Promise<true | undefined> => {
    stop.throwIfAborted();
    left = differencesFrom(desired(), await actualOf(site));
    return left.length === 0 ? true : undefined;
  };
  const state = (): string => [`${left.length} are not:`, ...left.slice(0, SHOWN)].join("\n  ");
  await eventually("all objects to be up to date", timeoutMs, ask, state);
}

async function actualOf({ kube, cloud }: Site): Promise<ActualObjects> {
  const signal = AbortSignal.timeout(CALL_MS);
  const [nodes, services, { items: loadBalancers }] = await Promise.all([
    kube.items("/api/v1/nodes"),
    kube.items("/api/v1/namespaces/default/services"),
    cloud.listLoadBalancers({ pageSize: 1000, consistent: true }, signal),
  ]);
  const instances: ActualObjects["instances"][number][] = [];
  let pageToken: string | undefined;
  do {
    const page = await cloud.listInstances({ pageSize: 1000, pageToken, consistent: true }, signal);
    instances.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return { nodes, services, loadBalancers, instances };
}

function progress({ seconds, controller, sidecar, heapBytes = 0 }: Sample): string {
  const mib = (bytes = 0): string => (bytes / 1_048_576).toFixed(0);
  return `${seconds.toFixed(0)} s: controller ${mib(controller?.rssBytes)} MiB (heap ${mib(heapBytes)}), ${controller?.descriptors ?? 0} descriptors; sidecar ${mib(sidecar?.rssBytes)} MiB, ${sidecar?.descriptors ?? 0} descriptors`;
}

async function writeResults(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}
