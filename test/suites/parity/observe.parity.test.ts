import { buildControlPlane } from "@cloudwire/control-plane";
import { OBSERVER_PERMISSIONS } from "@cloudwire/controller/permissions";
import { rolesFor } from "@cloudwire/deploy/roles";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { skipReason } from "../differential/differential.ts";
import { eventually } from "../../support/eventually.ts";
import { at } from "../../support/kube.ts";
import { type Credentials, fetchPage, freePort } from "../../support/secure-page.ts";
import { ours } from "./peers/ours.ts";
import { upstream } from "./peers/upstream.ts";
import { Stage } from "./stage.ts";
import { buildUpstream } from "./upstream/module.ts";
import { type Guest, ParityWorld } from "./world.ts";

const BUILD_MS = 60 * 60_000;

/** Longer than the 30 s after which what is pending is looked at again. */
const AGREE_MS = 150_000;

/** Short periods, so that a test of seconds sees what else takes minutes. */
const BOTH = [
  "--node-monitor-period=1s",
  "--node-status-update-frequency=10s",
  "--route-reconciliation-period=1s",
  "--cluster-cidr=10.200.0.0/16",
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
];
const OURS = ["--load-balancer-drift-period=1s", "--bind-address=127.0.0.1"];

/** The API server answers them and keeps nothing. */
const REVIEWS = new Set(["subjectaccessreviews", "tokenreviews"]);

const TYPE_LABELS = ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"] as const;

interface PlansPage {
  readonly observing: boolean;
  readonly complete: boolean;
  readonly plans: readonly {
    readonly writes: readonly { readonly action: string; readonly summary: string }[];
  }[];
}

const reason = await skipReason("upstream's controllers and ours");
let world: ParityWorld;

describe.skipIf(reason !== undefined)("an observer beside upstream's cloud-controller-manager", () => {
  beforeEach(async () => {
    await buildControlPlane();
    await buildUpstream();
    world = await ParityWorld.start(upstream, process.pid + 6, ["observer", "ours"]);
  }, BUILD_MS);
  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  test("says what would change, writes nothing, and takes over without a changing call", async () => {
    const administrator = await world.certificateFor("reader", ["system:masters"]);
    const stage = new Stage(world, "observed");
    await world.startPrograms({ both: BOTH, upstream: [], ours: [] });
    const podCIDR = "10.200.1.0/24";
    await stage.join("a", {}, { target: true, spec: { podCIDR, podCIDRs: [podCIDR] } });
    await stage.join("b", {}, { target: true });
    await stage.serve("web");
    await stage.targetsAre("web", "a", "b");
    await eventually("the route", 30_000, async () => ((await routes()).length === 1 ? true : undefined));
    expect(stage.inVain).toEqual([]);

    await world.apply(rolesFor(OBSERVER_PERMISSIONS, () => true, { kind: "User", name: "observer" }));
    const port = await freePort();
    await using observer = await guest("observer", [], port, ["--mode=observe"]);
    const watching = { observer, port, administrator };

    // What ours says of each Service, upstream does not.
    const create = `create: patch services/status observed/web: status.conditions["cloudwire.dev/LoadBalancerReady"]`;
    await plansAre(watching, [create]);

    // Upstream makes the two labels equal without another request to the cloud.
    const typed = (type: string) => Object.fromEntries(TYPE_LABELS.map((label) => [label, type]));
    const node = await world.kube.get(`/api/v1/nodes/${stage.full("a")}`);
    const type = String(at(node, "metadata", "labels", TYPE_LABELS[0]));
    await stage.patchNode("a", { metadata: { labels: typed("another") } });
    const paths = TYPE_LABELS.map((label) => `metadata.labels["${label}"]`).join(", ");
    await plansAre(watching, [create, `update: patch nodes ${stage.full("a")}: ${paths}`]);
    await stage.patchNode("a", { metadata: { labels: typed(type) } });
    await plansAre(watching, [create]);

    const [loadBalancer] = (await world.cloud.listLoadBalancers({ consistent: true }, call())).items;
    if (loadBalancer === undefined) throw new Error("there is no load balancer");
    await world.cloud.patchLoadBalancer(loadBalancer.id, { sourceRanges: ["192.0.2.0/24"] }, call());
    await plansAre(watching, [
      `update: simulated EnsureLoadBalancer (drift: changed): update load balancer ${loadBalancer.id}: changes sourceRanges, metadata`,
    ]);
    await world.cloud.patchLoadBalancer(loadBalancer.id, { sourceRanges: loadBalancer.sourceRanges }, call());
    await plansAre(watching, [create]);

    await observer.stop();
    expect((await observer.writes()).filter(({ resource = "" }) => !REVIEWS.has(resource))).toEqual([]);
    expect(observer.cloudChanges).toEqual([]);

    await world.stopPrograms();
    const activePort = await freePort();
    await using active = await guest("ours", ["system:masters"], activePort, []);
    await eventually(
      "ours to have looked at everything",
      AGREE_MS,
      async () => {
        const conditions = await stage.conditionsOf("web");
        const { complete } = await plansOf(activePort, administrator);
        return conditions.includes("cloudwire.dev/LoadBalancerReady") && complete ? true : undefined;
      },
      () => active.output,
    );
    expect(active.cloudChanges).toEqual([]);
    const aside = new Set([...REVIEWS, "leases", "events"]);
    const written = (await active.writes()).filter(({ resource = "" }) => !aside.has(resource));
    expect(written.map(({ verb, resource, subresource, name }) => [verb, resource, subresource, name])).toEqual([
      ["patch", "services", "status", "web"],
    ]);
  }, 600_000);
});

interface Watching {
  readonly observer: Guest;
  readonly port: number;
  readonly administrator: Credentials;
}

async function guest(user: string, groups: readonly string[], port: number, flags: readonly string[]): Promise<Guest> {
  const secure = [`--secure-port=${port}`, ...OURS, ...flags];
  return world.guest(ours, user, groups, { both: BOTH, upstream: [], ours: secure });
}

async function plansOf(port: number, administrator: Credentials): Promise<PlansPage> {
  const { status, text } = await fetchPage(port, "/debug/plans", administrator);
  if (status !== 200) return { observing: false, complete: false, plans: [] };
  const page: PlansPage = JSON.parse(text);
  return page;
}

/** Waits until nothing but this is pending, everything having been looked at. */
async function plansAre({ observer, port, administrator }: Watching, wanted: readonly string[]): Promise<void> {
  let last: PlansPage | undefined;
  await eventually(
    `the plans to be ${JSON.stringify(wanted)}`,
    AGREE_MS,
    async () => {
      last = await plansOf(port, administrator);
      const found = last.plans.flatMap(({ writes }) => writes.map(({ action, summary }) => `${action}: ${summary}`));
      const isSame = JSON.stringify(found.toSorted()) === JSON.stringify(wanted.toSorted());
      return last.observing && last.complete && isSame ? true : undefined;
    },
    () => `${JSON.stringify(last, undefined, 2)}\n${observer.output}`,
  );
}

async function routes(): Promise<readonly unknown[]> {
  return (await world.cloud.listRoutes({ consistent: true }, call())).items;
}

function call(): AbortSignal {
  return AbortSignal.timeout(10_000);
}
