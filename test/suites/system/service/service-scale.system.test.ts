import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { inParallel, numbered, ReadyMachines } from "../support/ready-machines.ts";
import type { Harness } from "../support/harness.ts";

const SERVICES = 200;
const NODES = 1000;
/** Each load balancer has an address of its own. */
const PORT = 8190;
/** So long without a change in the cloud is an end. */
const STILL_MS = 4000;
const SHORT_LEASE = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

let harness: Harness;
let machines: ReadyMachines;

eachHarness((fresh) => {
  harness = fresh;
  machines = new ReadyMachines(harness);
});

const addresses = async (): Promise<ReadonlyMap<string, unknown>> => {
  const services = await harness.kube.items("/api/v1/namespaces/default/services");
  const entries = services.filter(isLoadBalancer).map((service): [string, unknown] => {
    return [String(at(service, "metadata", "name")), at(service, "status", "loadBalancer", "ingress", 0, "ip")];
  });
  return new Map(entries);
};

const isLoadBalancer = (service: Json): boolean => at(service, "spec", "type") === "LoadBalancer";

async function allAddressed(count: number): Promise<ReadonlyMap<string, unknown>> {
  return eventually(
    `${count} Services to have addresses`,
    180_000,
    async () => {
      const all = await addresses();
      return all.size === count && [...all.values()].every((ip) => typeof ip === "string") ? all : undefined;
    },
    () => harness.outputs().slice(-4000),
  );
}

/** Waits until the cloud has not been changed for a while; answers how often it was in all. */
async function settled(): Promise<number> {
  let mutating = -1;
  let sinceMs = 0;
  return eventually("the cloud to be left alone", 120_000, async () => {
    const calls = await harness.admin.calls();
    if (calls.mutating !== mutating) {
      mutating = calls.mutating;
      sinceMs = performance.now();
    }
    return performance.now() - sinceMs > STILL_MS ? mutating : undefined;
  });
}

/** Calls that `program` made to its provider, by method. */
async function providerCalls(program: Program, method: string): Promise<number> {
  return harness.metric(program, new RegExp(`^cloudwire_provider_call_duration_seconds_count\\{.*method="${method}"`));
}

/** What a process did from its start until nothing happened any more. */
async function effects(program: Program): Promise<Readonly<Record<string, number | boolean>>> {
  await program.said(/Became leader/, 60_000);
  await eventually("all Services to have been looked at", 60_000, async () => {
    const looked = await harness.metric(program, /^cloudwire_reconciles_total\{.*controller="service-lb-controller"/);
    return looked >= SERVICES ? true : undefined;
  });
  await settled();
  const names = ["UpdateLoadBalancerNodes", "DeleteLoadBalancer", "ListLoadBalancers", "GetLoadBalancer"];
  const counts = await Promise.all(names.map(async (name) => [name, await providerCalls(program, name)] as const));
  // Each load balancer is checked once, over time.
  const isCheckedOnce = (await providerCalls(program, "EnsureLoadBalancer")) <= SERVICES;
  const { mutating } = await harness.admin.calls();
  return { ...Object.fromEntries(counts), isCheckedOnce, mutatingAtCloud: mutating };
}

const NOTHING_CHANGED = {
  isCheckedOnce: true,
  UpdateLoadBalancerNodes: 0,
  DeleteLoadBalancer: 0,
  ListLoadBalancers: 1,
  GetLoadBalancer: 0,
  mutatingAtCloud: 0,
};

async function createServices(count: number): Promise<void> {
  await inParallel(numbered("web", count), async (name) => void (await harness.createService(name, PORT)));
}

describe("service-lb at scale on a real control plane", () => {
  test("changes nothing in the cloud after a restart, a crash and a failover with 200 Services and 1,000 nodes", async () => {
    await machines.join(numbered("n", NODES));
    await createServices(SERVICES);
    const sidecar = await harness.startSidecar();
    const first = harness.startController({ args: SHORT_LEASE });
    const before = await allAddressed(SERVICES);
    await settled();
    expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });

    await harness.admin.resetCalls();
    const restarted = harness.startController({ args: SHORT_LEASE });
    expect(await effects(restarted)).toEqual(NOTHING_CHANGED);

    await harness.admin.resetCalls();
    await restarted.stop("SIGKILL");
    const crashed = harness.startController({ args: SHORT_LEASE });
    expect(await effects(crashed)).toEqual(NOTHING_CHANGED);

    const standby = harness.startController({ args: SHORT_LEASE });
    await standby.said(/Waiting for leadership/);
    await standby.said(/Connected to provider/);
    await harness.admin.resetCalls();
    await crashed.stop("SIGKILL");
    expect(await effects(standby)).toEqual(NOTHING_CHANGED);
    expect(await addresses()).toEqual(before);
    expect(await harness.loadBalancers()).toHaveLength(SERVICES);

    // A sidecar that was restarted has forgotten the node set that load balancers are sent.
    await sidecar.stop("SIGKILL");
    await harness.startSidecar();
    await standby.said(/Connected to provider[\s\S]*Connected to provider/);
    await machines.join(["one-more"]);
    await eventually(
      "all load balancers to have one node more",
      120_000,
      async () =>
        (await harness.loadBalancers()).every(({ targetCount }) => targetCount === NODES + 1) ? true : undefined,
      () => harness.outputs().slice(-4000),
    );
    await settled();
    expect(await providerCalls(standby, "UpdateLoadBalancerNodes")).toBeLessThanOrEqual(SERVICES + 2);
    expect(await providerCalls(standby, "ApplyNodeSet")).toBeLessThanOrEqual(6);
  }, 600_000);

  test("updates each of 100 load balancers at most 3 times when 10 nodes join over 5 s", async () => {
    const services = 100;
    await machines.join(numbered("n", 5));
    await createServices(services);
    await harness.startSidecar();
    const controller = harness.startController();
    await allAddressed(services);
    await settled();

    const joining = numbered("late", 10);
    await harness.createMachines(joining.map((name) => ({ name, zone: "north-a" })));
    await harness.admin.resetCalls();
    for (const [index, name] of joining.entries()) {
      const dueMs = performance.now() + 500;
      await harness.registerNode(name);
      if (index < joining.length - 1) await eventually("its turn", 5000, () => performance.now() >= dueMs || undefined);
    }
    for (const name of joining) await harness.initialized(name, 60_000);
    await settled();

    const log = (await harness.admin.log(10_000)).filter(({ operation }) => operation.startsWith("loadBalancers."));
    const updates = new Map<string, number>();
    for (const { path } of log.filter(({ mutating }) => mutating)) updates.set(path, (updates.get(path) ?? 0) + 1);
    expect(updates.size).toBe(services);
    expect(Math.max(...updates.values())).toBeLessThanOrEqual(3);
    expect(await providerCalls(controller, "EnsureLoadBalancer")).toBe(services);
    for (const { targetCount } of await harness.loadBalancers()) expect(targetCount).toBe(15);
    expect(listOf(await harness.kube.items("/api/v1/nodes"))).toHaveLength(15);
  }, 600_000);
});
