import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at } from "../../support/kube.ts";
import type { Program } from "../../support/program.ts";
import { Harness } from "../system/support/harness.ts";
import { checkOutOldVersion, type OldVersion } from "./old-version.ts";

const BUILD_MS = 60 * 60_000;
/** Without a change in the cloud for this time, the controller has finished. */
const QUIET_MS = 4000;
const CALL_MS = 10_000;
const ARGS = [
  "--cluster-cidr=10.120.0.0/16",
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
  "--route-reconciliation-period=2s",
];
const services = "/api/v1/namespaces/default/services";

let controlPlane: ControlPlane;
let old: OldVersion;

beforeAll(async () => {
  await buildControlPlane();
  [controlPlane, old] = await Promise.all([startControlPlane(), checkOutOldVersion()]);
}, BUILD_MS);
afterAll(async () => {
  await Promise.all([controlPlane.stop(), old[Symbol.asyncDispose]()]);
});

/** undefined: this checkout. */
interface Versions {
  readonly controller: string | undefined;
  readonly provider: string | undefined;
}

interface Running {
  readonly controller: Program;
  readonly provider: Program;
}

async function start(harness: Harness, versions: Versions): Promise<Running> {
  const provider = await harness.startSidecar({ checkout: versions.provider });
  const controller = harness.startController({ checkout: versions.controller, args: ARGS });
  await controller.said(/Became leader/, 60_000);
  return { controller, provider };
}

async function stop({ controller, provider }: Running, signal: NodeJS.Signals): Promise<void> {
  await controller.stop(signal);
  await provider.stop(signal);
}

async function joinNode(harness: Harness, name: string, index: number): Promise<void> {
  await harness.createMachines([{ name, zone: "north-a" }]);
  const podCidr = `10.120.${index}.0/24`;
  await harness.registerNode(name, { spec: { podCIDR: podCidr, podCIDRs: [podCidr] }, ageMs: 180_000 });
  await harness.initialized(name);
  await harness.reportReady(name, "True");
}

interface LiveState {
  /** Load balancers: ID, address, ports and names of the nodes, by name of the Service. */
  readonly loadBalancers: readonly string[];
  readonly routes: readonly string[];
  readonly addresses: readonly string[];
  /** Provider IDs and pod CIDRs. */
  readonly nodes: readonly string[];
}

async function liveState(harness: Harness): Promise<LiveState> {
  const page = await harness.cloud.listRoutes({ pageSize: 1000, consistent: true }, AbortSignal.timeout(CALL_MS));
  const loadBalancers = await Promise.all(
    (await harness.loadBalancers()).map(async ({ id, listeners }) => {
      const targets = await harness.targetNames(id);
      return `${id} ${listeners.map(({ port }) => port).join()} ${targets.join()}`;
    }),
  );
  const addresses = (await harness.kube.items(services)).map(
    (service) => `${String(at(service, "metadata", "name"))} ${JSON.stringify(at(service, "status", "loadBalancer"))}`,
  );
  const nodes = (await harness.kube.items("/api/v1/nodes")).map(
    (node) => `${String(at(node, "metadata", "name"))} ${JSON.stringify(at(node, "spec"))}`,
  );
  const routes = page.items.map(({ destination, id }) => `${id} ${destination}`);
  return {
    loadBalancers: loadBalancers.toSorted(),
    routes: routes.toSorted(),
    addresses: addresses.toSorted(),
    nodes: nodes.toSorted(),
  };
}

/** Waits until the cloud has had no change for a while. Returns the number of changes since the counters were reset. */
async function quiet(harness: Harness): Promise<number> {
  let mutating = -1;
  let sinceMs = 0;
  return eventually("the cloud to have no changes", 60_000, async () => {
    const calls = await harness.admin.calls();
    if (calls.mutating !== mutating) {
      mutating = calls.mutating;
      sinceMs = performance.now();
    }
    return performance.now() - sinceMs > QUIET_MS ? mutating : undefined;
  });
}

/** Changes each kind of object; waits for the result in the cloud. */
async function change(harness: Harness, round: number): Promise<void> {
  const port = 8300 + round;
  await harness.kube.patch(`${services}/web`, { spec: { ports: [{ port, protocol: "TCP" }, { $patch: "replace" }] } });
  await harness.createService(`service-${round}`, 8200 + round);
  await harness.addressed(`service-${round}`);
  if (round > 1) await harness.kube.delete(`${services}/service-${round - 1}`);
  await joinNode(harness, `node-${round}`, round);
  if (round > 1) await harness.kube.delete(`/api/v1/nodes/node-${round - 1}`);
  const wanted = [`${port} node-0,node-${round}`, `${8200 + round} node-0,node-${round}`];
  await eventually(
    `the changes of round ${round}`,
    60_000,
    async () => {
      const { loadBalancers, routes } = await liveState(harness);
      const found = loadBalancers.map((text) => text.slice(text.indexOf(" ") + 1)).toSorted();
      return found.join(";") === wanted.toSorted().join(";") && routes.length === 2 ? true : undefined;
    },
    () => harness.outputs().slice(-8000),
  );
  await quiet(harness);
}

test.each([
  { what: "the controller and the provider", isOld: { controller: true, provider: true } },
  { what: "only the controller", isOld: { controller: true, provider: false } },
  { what: "only the provider", isOld: { controller: false, provider: true } },
])("an upgrade and a rollback of $what change nothing in the cloud, and work goes on (case V-4)", async ({ isOld }) => {
  await using harness = await Harness.start(controlPlane);
  const before: Versions = {
    controller: isOld.controller ? old.directory : undefined,
    provider: isOld.provider ? old.directory : undefined,
  };
  const after: Versions = { controller: undefined, provider: undefined };
  let running = await start(harness, before);
  await joinNode(harness, "node-0", 0);
  await harness.createService("web", 8300);
  await harness.addressed("web");
  let round = 1;
  await change(harness, round);

  // Upgrade, crash of the new version, rollback, and the upgrade again.
  for (const { next, signal } of [
    { next: after, signal: "SIGTERM" },
    { next: before, signal: "SIGKILL" },
    { next: after, signal: "SIGTERM" },
  ] as const) {
    const state = await liveState(harness);
    await harness.admin.resetCalls();
    await stop(running, signal);
    running = await start(harness, next);
    expect(await quiet(harness)).toBe(0);
    expect(await liveState(harness)).toEqual(state);
    round += 1;
    await change(harness, round);
  }
});
