import { afterEach, beforeEach, expect, test } from "vitest";
import { service, servicePort, type ServiceParts } from "../../../test/support/builders.ts";
import { LoadBalancerCloud, type LoadBalancerCall } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const UID = "uid-default-web";

let cloud: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(async () => {
  cloud = new LoadBalancerCloud();
  world = new ServiceHarness();
  // A sweep would find everything.
  world.options.loadBalancerDriftPeriod = 0;
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
});
afterEach(() => world[Symbol.asyncDispose]());

/** Every such call is carried out, and its answer is lost. */
const lose = (lost: LoadBalancerCall): void => {
  cloud.fail = (call) => (call === lost ? "lost" : undefined);
};

async function edit(spec: NonNullable<ServiceParts["spec"]>): Promise<void> {
  const known = world.store.get("web") ?? service("web");
  world.store.put({ ...known, spec: { ...known.spec, ...spec } });
  await world.pass(100);
}

const published = (): string | undefined => world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname;

test("service-lb makes a load balancer again whose deletion got no answer, even if the first attempt gets none either", async () => {
  lose("delete");
  await edit({ type: "ClusterIP" });
  expect(cloud.kept.size).toBe(0);
  cloud.fail = (call) => (call === "ensure" ? contractError("DEADLINE_PASSED", "no answer in time") : undefined);
  await edit({ type: "LoadBalancer" });
  expect(cloud.changes.at(-1)).toBe(`ensure ${UID}`);
  cloud.fail = () => undefined;
  await world.pass(60_000);
  expect([...cloud.kept.keys()]).toEqual([UID]);
  expect(published()).toBe(`${cloud.kept.get(UID)?.id}.example`);
});

test("service-lb makes a load balancer again while its deletion goes on, whatever a read still shows", async () => {
  const { client, ...provider } = cloud.provider();
  const busy = { done: false, remaining: [], diagnostics: [], plannedChanges: [] };
  const operation = { id: "op", stage: "", progressPercent: undefined, pollAfterMs: 60_000, message: "" };
  const deleteLoadBalancer = () => Promise.resolve({ ...busy, operation });
  await world.restart([{ ...provider, client: { ...client, deleteLoadBalancer } }]);
  await edit({ type: "ClusterIP" });
  const before = cloud.changes.length;
  await edit({ type: "LoadBalancer" });
  expect(cloud.changes.slice(before)).toEqual([`ensure ${UID}`]);
});

test("service-lb reads what a change without answer has left before it believes what was acknowledged earlier", async () => {
  const fingerprint = cloud.kept.get(UID)?.specFingerprint;
  lose("ensure");
  await edit({ ports: [servicePort({ port: 81 })] });
  expect(cloud.kept.get(UID)?.specFingerprint).not.toBe(fingerprint);
  cloud.fail = () => undefined;
  await edit({ ports: [servicePort()] });
  await world.pass(60_000);
  expect(cloud.kept.get(UID)?.specFingerprint).toBe(fingerprint);
});

test("service-lb changes nothing when a change without answer was not carried out and is not wanted any more", async () => {
  cloud.fail = (call) => (call === "ensure" ? contractError("DEADLINE_PASSED", "no answer in time") : undefined);
  await edit({ ports: [servicePort({ port: 81 })] });
  cloud.fail = () => undefined;
  const before = cloud.changes.length;
  await edit({ ports: [servicePort()] });
  await world.pass(60_000);
  expect(cloud.changes.slice(before)).toEqual([]);
});

test("service-lb keeps a load balancer current whose deletion was not accepted, while another spec is rejected", async () => {
  cloud.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "away") : undefined);
  await edit({ type: "ClusterIP" });
  await edit({ type: "LoadBalancer", ports: [servicePort({ protocol: "SCTP" })] });
  world.node("a");
  await world.pass(60_000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["a"]);
});

test("service-lb keeps the load balancer that a Service took over although its deletion was asked for and taking over is not allowed any more", async () => {
  const annotations = { "service.cloudwire.dev/adopt-load-balancer": cloud.kept.get(UID)?.id ?? "" };
  const known = world.store.get("web") ?? service("web");
  world.store.put({ ...known, metadata: { ...known.metadata, annotations } });
  await world.pass(1000);
  cloud.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "away") : undefined);
  await edit({ type: "ClusterIP" });
  await edit({ type: "LoadBalancer" });
  await world.pass(60_000);
  expect(world.store.get("web")?.status.conditions[0]).toMatchObject({ reason: "NoAvailableNodes" });
});
