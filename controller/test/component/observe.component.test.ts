import { afterEach, describe, expect, test } from "vitest";
import type { Mode } from "../../src/observe/mode.ts";
import { summaryOf } from "../../src/observe/plans.ts";
import { eventually } from "../support/poll.ts";
import { Harness, type Manager } from "./support/harness.ts";
import { initializedNode, loadBalancerService, registeredNode } from "./support/objects.ts";

const SERVICE_ADDS = [
  'patch services/status default/web: metadata.finalizers["service.kubernetes.io/load-balancer-cleanup"]',
  'status.conditions["cloudwire.dev/LoadBalancerReady"]',
].join(", ");
const ENSURE = "acme EnsureLoadBalancer (service created): the provider cannot predict the changes";

const UNVERIFIED =
  "acme EnsureLoadBalancer (not compared with the spec since the start or a change): the provider cannot predict the changes";

let harness: Harness;

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
});

function said(
  mode: Mode,
  controllers: Readonly<Record<string, Mode>> = {},
  providers: Readonly<Record<string, Mode>> = {},
) {
  return {
    mode,
    controllerMode: new Map(Object.entries(controllers)),
    providerMode: new Map(Object.entries(providers)),
  };
}

/** Every write that is planned, by key. */
function plansOf({ observed }: Manager): Readonly<Record<string, readonly string[]>> {
  const plans = observed?.plans.all ?? [];
  return Object.fromEntries(plans.map(({ key, writes }) => [key, writes.map(summaryOf)]));
}

async function start(): Promise<void> {
  harness = await Harness.start({
    objects: [registeredNode("new"), initializedNode("a"), loadBalancerService("web")],
  });
  harness.cloud.machine("new", { addresses: [{ type: 1, address: "10.0.0.1" }] });
  harness.cloud.machine("a");
  await harness.startProvider();
}

async function planned(manager: Manager, keys: number): Promise<void> {
  await eventually("the plans", () => Object.keys(plansOf(manager)).length === keys, 30_000);
  await harness.quiet();
}

describe("a process that observes everything", () => {
  test("plans for Nodes and Services, and writes nothing anywhere", async () => {
    await start();
    const observer = harness.startManager(said("observe")).startNodes().startServices();
    await planned(observer, 2);
    expect(plansOf(observer)["default/web"]).toEqual([SERVICE_ADDS, ENSURE]);
    expect(plansOf(observer)["new"]?.at(-1)).toContain("spec.taints");
    expect(
      harness.cluster.requests.filter(({ method, userAgent }) => method !== "GET" && userAgent !== "a-user"),
    ).toEqual([]);
    expect(harness.cloud.changes).toEqual([]);
    expect(observer.log.messages("warn")).toEqual([]);
  });

  test("says a plan once, however often it is made", async () => {
    await start();
    const observer = harness.startManager(said("observe")).startServices();
    await planned(observer, 1);
    const touch = (times: string) =>
      harness.user("PATCH", "namespaces/default/services/web", { metadata: { annotations: { times } } });
    await touch("1");
    await harness.quiet();
    await touch("2");
    await harness.quiet();
    const lines = observer.log.messages("info").filter((message) => message.startsWith("Pending writes"));
    expect(lines).toHaveLength(1);
  });

  test("leaves everything to be done to the one that takes over, and nothing to be undone", async () => {
    await start();
    const observer = harness.startManager(said("observe")).startNodes().startServices();
    await planned(observer, 2);
    await observer.kill();
    harness.startManager().startNodes().startServices();
    await eventually("the Service to be served", () => harness.events("web").length >= 2, 30_000);
    await harness.quiet();
    const next = harness.startManager(said("observe")).startNodes().startServices();
    await harness.quiet();
    // A provider without validate_only is sent one Ensure after a start, since a read does not show whether the spec is in force.
    expect(plansOf(next)).toEqual({ "default/web": [UNVERIFIED] });
    expect(harness.cloud.changes).toContain("ensure web");
  });
});

describe("a process that observes in part", () => {
  test("writes for the controllers that are active", async () => {
    await start();
    const manager = harness
      .startManager(said("active", { service: "observe" }))
      .startNodes()
      .startServices();
    await planned(manager, 1);
    expect(plansOf(manager)["default/web"]).toEqual([SERVICE_ADDS, ENSURE]);
    expect(harness.writes.map((write) => write.split(" ", 2).join(" "))).toEqual([
      "PATCH nodes/new/status",
      "PATCH nodes/new",
    ]);
    expect(harness.events("new")).toHaveLength(1);
    expect(harness.events("web")).toEqual([]);
    expect(harness.cloud.changes).toEqual([]);
  });

  test("writes nothing of the objects of a provider that is observed", async () => {
    await start();
    const manager = harness
      .startManager(said("active", {}, { acme: "observe" }))
      .startNodes()
      .startServices();
    await planned(manager, 2);
    expect(harness.writes).toEqual([]);
    expect(harness.cloud.changes).toEqual([]);
    expect([...harness.events("new"), ...harness.events("web")]).toEqual([]);
  });
});
