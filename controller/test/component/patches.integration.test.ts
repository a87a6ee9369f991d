import { type ControlPlane, controlPlaneAvailability, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Node } from "../../src/api/node.ts";
import type { Service } from "../../src/api/service.ts";
import { plan } from "../../src/controllers/node/plan.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "../../src/controllers/service/plan/status.ts";
import type { JsonObject, WriteOptions } from "../../src/kube/client.ts";
import { kubeconfigAccess } from "../../src/kube/connection/kubeconfig.ts";
import type { ApiError } from "../../src/kube/errors.ts";
import { HttpKubeClient } from "../../src/kube/http-client.ts";
import { NODES } from "../../src/kube/resources/node.ts";
import type { Resource } from "../../src/kube/resources/codec.ts";
import { SERVICES } from "../../src/kube/resources/service.ts";
import { Transport } from "../../src/kube/connection/transport.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { systemClock } from "../../src/util/clock.ts";
import { ingress } from "../support/builders.ts";

const clock = systemClock();
const signal = new AbortController().signal;
const availability = await controlPlaneAvailability();
const missing = availability.kind === "missing" && process.env["CI"] !== "true";
const reason = availability.kind === "missing" ? ` (skipped: ${availability.reason})` : "";

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });

/** The controllers' patches, applied by a real API server. */
describe.skipIf(missing)(`patches of the controllers on a real kube-apiserver${reason}`, () => {
  let controlPlane: ControlPlane;
  let transport: Transport;
  let client: HttpKubeClient;

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    const access = await kubeconfigAccess({ path: controlPlane.kubeconfigPath, clock });
    transport = new Transport({ access, clock, metrics: undefined, limiter: undefined });
    client = new HttpKubeClient({
      transport,
      clock,
      metrics: undefined,
      userAgent: "cloudwire-test",
      tracing: NO_TRACING,
    });
  });
  afterAll(async () => {
    await transport.close();
    await controlPlane.stop();
  });

  function patch<T>(
    resource: Resource<T>,
    { metadata }: Node | Service,
    body: JsonObject,
    subresource?: string,
  ): Promise<T> {
    const { namespace, name } = metadata;
    const options: WriteOptions = { signal, ...(subresource === undefined ? {} : { subresource }) };
    return client.patch(resource, { namespace, name }, { kind: "strategic", body }, options);
  }

  function createNode(name: string, ...taints: readonly string[]): Promise<Node> {
    const spec = { taints: taints.map((key) => ({ key, effect: "NoSchedule" })) };
    return client.create(NODES, undefined, { metadata: { name }, spec }, { signal });
  }

  function createService(name: string): Promise<Service> {
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    return client.create(
      SERVICES,
      "default",
      { metadata: { name, finalizers: ["example.com/own"] }, spec },
      { signal },
    );
  }

  /** What cloud-node sends for a node whose machine has these addresses. */
  function initialization(node: Node, addresses: readonly string[]): { status: JsonObject; rest: JsonObject } {
    const planned = plan(
      {
        kind: "waiting",
        node,
        byName: { kind: "notQueried" },
        noAddressForMs: 0,
        result: {
          kind: "present",
          instance: {
            providerId: `acme://${node.metadata.name}`,
            name: node.metadata.name,
            instanceType: "m5",
            zone: "a",
            region: "r",
            addresses: addresses.map((address) => ({ type: "InternalIP", address })),
            state: "running",
            stateReason: "",
            labels: {},
            podCidrs: undefined,
            createTimeMs: undefined,
            revision: "",
            warnings: [],
          },
          readTimeMs: 0,
          witness: { provider: "", scopeId: "", bootId: "", receivedAtMs: 0 },
        },
      },
      0,
      { labels: { instanceType: "follow", zone: "warn", region: "warn" }, addressTimeoutMs: 0 },
    );
    if (planned.kind !== "initialize" || planned.statusPatch === undefined) throw new Error(`planned ${planned.kind}`);
    return { status: planned.statusPatch, rest: planned.nodePatch };
  }

  const refused = (write: Promise<unknown>): Promise<number> =>
    write.then(
      () => 200,
      (error: ApiError) => error.httpStatus,
    );

  test("initialize a node: two addresses of one type, one taint of two", async () => {
    const node = await createNode("init", UNINITIALIZED, "example.com/own");
    const addressed = await patch(NODES, node, initialization(node, ["10.0.0.1", "fd00::1"]).status, "status");
    const replaced = await patch(NODES, addressed, initialization(addressed, ["fd00::1", "10.0.0.2"]).status, "status");
    expect(replaced.status.addresses.map(({ address }) => address)).toEqual(["fd00::1", "10.0.0.2"]);
    const done = await patch(NODES, replaced, initialization(replaced, ["10.0.0.9"]).rest);
    expect(done.spec).toMatchObject({ providerID: "acme://init", taints: [{ key: "example.com/own" }] });
    expect(done.metadata.labels).toMatchObject({
      "topology.kubernetes.io/zone": "a",
      "beta.kubernetes.io/instance-type": "m5",
    });
  });

  test("initialize a node whose only taint goes", async () => {
    const node = await createNode("bare", UNINITIALIZED);
    expect((await patch(NODES, node, initialization(node, ["10.0.0.1"]).rest)).spec.taints).toEqual([]);
  });

  test("are refused when the node has changed since, so that no taint is lost", async () => {
    const node = await createNode("raced", UNINITIALIZED);
    const { rest } = initialization(node, ["10.0.0.1"]);
    await patch(NODES, node, {
      spec: {
        taints: [
          { key: UNINITIALIZED, effect: "NoSchedule" },
          { key: "late", effect: "NoExecute" },
        ],
      },
    });
    expect(await refused(patch(NODES, node, rest))).toBe(409);
  });

  test("are rejected for a recreated Node and Service of the same name", async () => {
    const node = await createNode("again", UNINITIALIZED);
    const service = await createService("again");
    await client.delete(NODES, { name: "again" }, { signal });
    await patch(SERVICES, service, { metadata: { finalizers: null } });
    await client.delete(SERVICES, { namespace: "default", name: "again" }, { signal });
    await createNode("again", UNINITIALIZED);
    await createService("again");
    const toService = addFinalizerPatch(service) ?? {};
    expect([
      await refused(patch(NODES, node, initialization(node, ["10.0.0.1"]).status, "status")),
      await refused(patch(NODES, node, initialization(node, ["10.0.0.1"]).rest)),
      await refused(patch(SERVICES, service, toService, "status")),
    ]).toEqual([422, 409, 422]);
  });

  test("hold a Service, publish its address, and let go of all of it at once", async () => {
    const service = await createService("life");
    const held = await patch(SERVICES, service, addFinalizerPatch(service) ?? {}, "status");
    expect(held.metadata.finalizers).toEqual(["example.com/own", FINALIZER]);
    const published = await patch(
      SERVICES,
      held,
      ingressPatch(held, [vip, ingress({ hostname: "lb.example" })]) ?? {},
      "status",
    );
    expect(published.status.loadBalancer.ingress).toEqual([vip, ingress({ hostname: "lb.example" })]);
    expect(ingressPatch(published, [vip, ingress({ hostname: "lb.example" })])).toBeUndefined();
    await client.delete(SERVICES, { namespace: "default", name: "life" }, { signal });
    const cleaned = await patch(SERVICES, published, cleanedUpPatch(published) ?? {}, "status");
    expect([cleaned.metadata.finalizers, cleaned.status.loadBalancer.ingress]).toEqual([["example.com/own"], []]);
  });
});
