import type { LoadBalancer } from "@cloudwire/provider-simulated";
import { expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { eachHarness } from "../support/each-harness.ts";
import type { Harness } from "../support/harness.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ADOPT = "service.cloudwire.dev/adopt-load-balancer";
const CALL_MS = 10_000;

let harness: Harness;

eachHarness(async (fresh) => {
  harness = fresh;
  await harness.createMachines([{ name: "only", zone: "north-a" }]);
  await harness.registerNode("only");
  await harness.startSidecar();
});

/** What a cluster that is lost has left: nothing uses its cluster ID any longer. */
async function leftByAnotherCluster(): Promise<LoadBalancer> {
  const { loadBalancer } = await harness.cloud.createLoadBalancer(
    {
      name: "a-of-a-lost-cluster",
      listeners: [{ protocol: "tcp", port: 8381, targetPort: 30_999 }],
      tags: {
        "cloudwire.dev/cluster-id": "lost",
        "cloudwire.dev/cluster-name": "lost-cluster",
        "cloudwire.dev/service-uid": "lost",
        "cloudwire.dev/service-namespace": "default",
        "cloudwire.dev/service-name": "shop",
      },
    },
    AbortSignal.timeout(CALL_MS),
  );
  return loadBalancer;
}

async function ask(name: string, id: string): Promise<void> {
  await harness.kube.create(SERVICES, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, annotations: { [ADOPT]: id } },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "web", port: 8381 }] },
  });
}

const refused = (name: string, why: string): Promise<true> =>
  eventually(
    `${name} to be refused: ${why}`,
    40_000,
    async () => {
      const conditions = listOf(at(await harness.kube.get(`${SERVICES}/${name}`), "status", "conditions"));
      return (
        conditions.some(({ reason, message }) => reason === "Rejected" && String(message).includes(why)) || undefined
      );
    },
    () => harness.outputs().slice(-4000),
  );

test("a Service of a new cluster gets the load balancer that the lost one has left, address and all, and takes it with it", async () => {
  const left = await leftByAnotherCluster();
  const controller = harness.startController({ args: ["--allow-load-balancer-adoption"] });
  await harness.initialized("only");
  await ask("shop", left.id);
  expect(await harness.addressed("shop")).toBe(left.address);
  const [balancer, ...others] = await harness.loadBalancers();
  expect(others).toEqual([]);
  expect(balancer?.id).toBe(left.id);
  expect(balancer?.tags["cloudwire.dev/cluster-id"]).not.toBe("lost");
  expect(await harness.targetNames(left.id)).toEqual(["only"]);
  await harness.hasEvents("Service", "shop", "AdoptingLoadBalancer", "EnsuredLoadBalancer");

  // It is the Service's own from then on, allowed or not.
  await controller.stop();
  harness.startController();
  await harness.kube.patch(`${SERVICES}/shop`, { spec: { ports: [{ name: "more", port: 8382 }] } });
  await eventually("the port in the cloud", 40_000, async () => {
    const [same] = await harness.loadBalancers();
    return same?.id === left.id && same.listeners.some(({ port }) => port === 8382) ? true : undefined;
  });
  await harness.kube.delete(`${SERVICES}/shop`);
  await eventually("it to be gone", 40_000, async () =>
    (await harness.loadBalancers()).length === 0 ? true : undefined,
  );
});

test("nothing is taken that no operator has allowed, nor from a Service that lives", async () => {
  const left = await leftByAnotherCluster();
  const controller = harness.startController();
  await harness.initialized("only");
  await ask("shop", left.id);
  await refused("shop", "enable it with --allow-load-balancer-adoption");
  expect((await harness.loadBalancers()).map(({ tags }) => tags["cloudwire.dev/cluster-id"])).toEqual(["lost"]);
  await harness.kube.delete(`${SERVICES}/shop`);
  await controller.stop();

  harness.startController({ args: ["--allow-load-balancer-adoption"] });
  await harness.createService("living", 8383);
  const address = await harness.addressed("living");
  const living = (await harness.loadBalancers()).find((balancer) => balancer.address === address);
  await ask("thief", living?.id ?? "");
  await refused("thief", "is used or requested by Service default/living");
  const ids = (await harness.loadBalancers()).map(({ id }) => id);
  expect(new Set(ids)).toEqual(new Set([left.id, living?.id]));
});
