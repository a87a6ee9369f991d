import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { PERIOD_MS, ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { reportedReadiness } from "./plan/status.ts";

const UID = "uid-default-web";
const SIZE = "acme.example.com/size";
const MINUTE_MS = 60_000;

function readiness(world: ServiceHarness): string | undefined {
  const { status, reason, message } = reportedReadiness(world.store.get("web") ?? service("web")) ?? {};
  return `${status} ${reason}: ${message}`;
}

const NOT_REGISTERED =
  "Some nodes are no targets of the load balancer: second (InstanceStopped: Start it.). The controller retries every 10 seconds to 5 minutes. To fix: check the instances of the nodes that the message names.";

test.each([
  { call: "updates of nodes alone", parts: {} },
  { call: "ensures", parts: { updateNodes: false } },
])(
  "service-lb registers a node by $call when its instance has started, and reports it until then (case S-2)",
  async ({ parts }) => {
    const cloud = new LoadBalancerCloud("acme", parts);
    cloud.stopped.add("second");
    await using world = new ServiceHarness();
    for (const name of ["first", "second"]) world.node(name);
    world.store.put(service("web"));
    await world.start([cloud.provider()]);
    await world.pass(5000);
    expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
    expect(world.store.get("web")?.status.loadBalancer.ingress).toHaveLength(1);
    expect(readiness(world)).toBe(`False NodesNotRegistered: ${NOT_REGISTERED}`);
    expect(world.reported.at(-1)).toBe(
      "NodesNotRegistered: Some nodes are no targets of the load balancer: second (InstanceStopped: Start it.) (retrying in 10 seconds to 5 minutes). To fix: check the instances of the nodes that the message names",
    );
    const [changes, events] = [cloud.changes.length, world.events.length];
    await world.pass(60 * MINUTE_MS);
    // 10, 20, 40, 80, 160 and then every 300 s.
    expect(cloud.changes.length - changes).toBeLessThan(20);
    expect(world.events.length).toBe(events);

    cloud.stopped.clear();
    await world.pass(6 * MINUTE_MS);
    expect(cloud.kept.get(UID)?.nodes).toEqual(["first", "second"]);
    expect(readiness(world)).toMatch(/^True Ready/);
    const rest = cloud.changes.length;
    await world.pass(3 * PERIOD_MS);
    expect(cloud.changes.length).toBe(rest);
  },
);

test("service-lb registers such a node after a restart, and at once when other nodes come (case S-2)", async () => {
  const cloud = new LoadBalancerCloud();
  cloud.stopped.add("second");
  await using world = new ServiceHarness();
  for (const name of ["first", "second"]) world.node(name);
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
  await world.pass(5 * MINUTE_MS);
  world.node("third");
  await world.pass(5000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first", "third"]);
  await world.stop();
  cloud.stopped.clear();
  await world.start([cloud.provider()]);
  await world.pass(5000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first", "second", "third"]);
});

test("service-lb reports what is left of a load balancer that is being deleted, and what holds it (case S-5)", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
  await world.pass(5000);
  cloud.remaining = ["security group sg-2", "security group sg-1"];
  const known = world.store.get("web") ?? service("web");
  world.store.put({ ...known, metadata: { ...known.metadata, deletionTimestampMs: world.clock.nowMs() } });
  await world.pass(20 * MINUTE_MS);
  const detail = "aiting for references; another group refers to it; left: security group sg-1, security group sg-2";
  expect(readiness(world)).toBe(
    `False Deleting: The load balancer is being deleted; the Service is deleted afterwards. W${detail}.`,
  );
  const about = (): readonly string[] => world.reported.filter((text) => text.includes("Delet"));
  const first = `LoadBalancerDeletionWaiting: The load balancer is not deleted yet: w${detail}`;
  expect(about()).toEqual(["DeletingLoadBalancer: Deleting load balancer", first]);
  cloud.remaining = ["security group sg-2"];
  await world.pass(10_000);
  expect(about()).toHaveLength(3);
  cloud.remaining = [];
  await world.pass(10_000);
  expect(world.store.get("web")).toBeUndefined();
});

test("service-lb refuses a change of an immutable annotation, and keeps the load balancer in force current (case S-6)", async () => {
  const cloud = new LoadBalancerCloud();
  cloud.annotations = [{ key: SIZE, isMutable: false, defaultValue: undefined }];
  await using world = new ServiceHarness();
  world.node("first");
  const of = (size: string) => service("web", { metadata: { annotations: { [SIZE]: size } } });
  world.store.put(of("small"));
  await world.start([cloud.provider()]);
  await world.pass(5000);
  const { specFingerprint } = cloud.kept.get(UID) ?? {};
  const edit = (size: string): void => {
    const known = world.store.get("web") ?? of(size);
    world.store.put({ ...known, metadata: { ...known.metadata, annotations: { [SIZE]: size } } });
  };
  edit("large");
  world.node("second");
  await world.pass(5000);
  expect(cloud.kept.get(UID)).toMatchObject({ specFingerprint, nodes: ["first", "second"] });
  const refusal = `metadata.annotations["${SIZE}"]: the provider sets it only when it creates the load balancer, and it stays "small": change it back, or recreate the Service`;
  expect(readiness(world)).toContain(`False Rejected: ${refusal}`);
  expect(world.reported.at(-1)).toContain(`SyncLoadBalancerFailed: Error syncing load balancer: ${refusal}`);
  edit("small");
  await world.pass(5000);
  expect(readiness(world)).toMatch(/^True Ready/);
});

test("service-lb names the nodes and resources of now, although only their names differ (case S-11)", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  for (const name of ["worker-pool-a-0001", "worker-pool-a-0002"]) world.node(name);
  world.store.put(service("web"));
  cloud.stopped.add("worker-pool-a-0001");
  await world.start([cloud.provider()]);
  await world.pass(10 * MINUTE_MS);
  expect(readiness(world)).toContain("worker-pool-a-0001 (InstanceStopped");
  cloud.stopped.clear();
  cloud.stopped.add("worker-pool-a-0002");
  world.node("third");
  await world.pass(15 * MINUTE_MS);
  expect(readiness(world)).toContain("worker-pool-a-0002 (InstanceStopped");
  const known = world.store.get("web") ?? service("web");
  world.store.put({ ...known, metadata: { ...known.metadata, deletionTimestampMs: world.clock.nowMs() } });
  for (const group of ["sg-0123456789abcdef0", "sg-0123456789abcdef1"]) {
    cloud.remaining = [`security group ${group}`];
    await world.pass(10 * MINUTE_MS);
    expect(readiness(world)).toContain(`left: security group ${group}.`);
  }
});
