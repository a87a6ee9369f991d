import { type ControlPlane, controlPlaneAvailability, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Node } from "../../src/api/node.ts";
import type { Service } from "../../src/api/service.ts";
import { nodeReference } from "../../src/api/node.ts";
import { createInformer } from "../../src/kube/cache-informer.ts";
import { kubeconfigAccess } from "../../src/kube/config.ts";
import { EventBroadcaster, eventMetrics } from "../../src/kube/event-broadcaster.ts";
import { EVENTS } from "../../src/kube/event-resource.ts";
import { HttpKubeClient } from "../../src/kube/http-client.ts";
import { informerMetrics } from "../../src/kube/informer-metrics.ts";
import { DEFAULT_TIMINGS, electionMetrics, LeaderElector } from "../../src/kube/leader-election.ts";
import { LEASES } from "../../src/kube/lease-resource.ts";
import { NODES } from "../../src/kube/node-resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { SERVICES } from "../../src/kube/service-resource.ts";
import { Transport } from "../../src/kube/transport.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { systemClock } from "../../src/util/clock.ts";
import { FakeLog } from "../support/fake-log.ts";
import { eventually } from "../support/poll.ts";

const signal = new AbortController().signal;
const clock = systemClock();
const log = new FakeLog();
const availability = await controlPlaneAvailability();
const missing = availability.kind === "missing" && process.env["CI"] !== "true";

/** The same kind, always read as JSON. */
function asJson<T>({ group, version, kind, plural, namespaced, fromJson }: Resource<T>): Resource<T> {
  return { group, version, kind, plural, namespaced, fromJson };
}

const taints = (...keys: readonly string[]): { key: string; effect: string }[] =>
  keys.map((key) => ({ key, effect: "NoSchedule" }));

const reason = availability.kind === "missing" ? ` (skipped: ${availability.reason})` : "";

describe.skipIf(missing)(`the runtime on a real kube-apiserver${reason}`, () => {
  let controlPlane: ControlPlane;
  let transport: Transport;
  let client: HttpKubeClient;

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    transport = new Transport({
      access: await kubeconfigAccess({ path: controlPlane.kubeconfigPath, clock }),
      clock,
      metrics: undefined,
      limiter: undefined,
    });
    client = new HttpKubeClient({ transport, clock, metrics: undefined, userAgent: "cloudwire-test" });
  });
  afterAll(async () => {
    await transport.close();
    await controlPlane.stop();
  });

  const createNode = (name: string, spec: Record<string, string> = {}): Promise<Node> =>
    client.create(NODES, undefined, { metadata: { name }, spec: { ...spec, taints: taints("a", "b") } }, { signal });

  const createService = (name: string): Promise<Service> =>
    client.create(
      SERVICES,
      "default",
      {
        metadata: { name, annotations: { note: "grüße 🌍" } },
        spec: {
          type: "LoadBalancer",
          ports: [
            { name: "http", port: 80, targetPort: "http", appProtocol: "http" },
            { name: "dns", port: 53, protocol: "UDP", targetPort: 5353 },
          ],
          sessionAffinity: "ClientIP",
          externalTrafficPolicy: "Local",
          loadBalancerSourceRanges: ["192.0.2.0/24"],
        },
      },
      { signal },
    );

  test("reads the same objects as protobuf and as JSON", async () => {
    await createNode("twice", { podCIDR: "10.244.9.0/24", providerID: "example:///twice" });
    await createService("twice");
    await client.patch(
      SERVICES,
      { namespace: "default", name: "twice" },
      {
        kind: "strategic",
        body: {
          status: {
            loadBalancer: {
              ingress: [{ ip: "192.0.2.1", ports: [{ port: 80, protocol: "TCP" }] }, { hostname: "lb.example" }],
            },
            conditions: [
              {
                type: "Ok",
                status: "True",
                reason: "Ok",
                message: "",
                observedGeneration: 3,
                lastTransitionTime: "2026-11-21T12:00:00Z",
              },
            ],
          },
        },
      },
      { signal, subresource: "status" },
    );
    const node = await client.get(NODES, { name: "twice" }, { signal });
    const service = await client.get(SERVICES, { namespace: "default", name: "twice" }, { signal });
    expect(node).toStrictEqual(await client.get(asJson(NODES), { name: "twice" }, { signal }));
    expect(service).toStrictEqual(
      await client.get(asJson(SERVICES), { namespace: "default", name: "twice" }, { signal }),
    );
    expect(node.spec).toMatchObject({ podCIDRs: ["10.244.9.0/24"], providerID: "example:///twice" });
    expect(service.spec).toMatchObject({
      allocateLoadBalancerNodePorts: true,
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    });
    expect(service.spec.healthCheckNodePort).toBeGreaterThan(0);
    expect(service.status.loadBalancer.ingress[0]?.ipMode).toBe("VIP");
    const [fromProtobuf, fromJson] = [
      await client.list(NODES, { signal }),
      await client.list(asJson(NODES), { signal }),
    ];
    expect(fromProtobuf.items).toStrictEqual(fromJson.items);
  });

  test("applies every kind of patch, the strategic one by keys", async () => {
    await createNode("patched");
    const options = { signal };
    const name = { name: "patched" };
    const condition = (type: string) => ({ type, status: "True", reason: "Test" });
    const toStatus = { ...options, subresource: "status" };
    await client.patch(
      NODES,
      name,
      { kind: "strategic", body: { status: { conditions: [condition("One")] } } },
      toStatus,
    );
    const merged = await client.patch(
      NODES,
      name,
      { kind: "strategic", body: { status: { conditions: [condition("Two")] } } },
      toStatus,
    );
    expect(merged.status.conditions.map(({ type }) => type).toSorted()).toEqual(["One", "Two"]);
    const replaced = await client.patch(
      NODES,
      name,
      { kind: "merge", body: { spec: { taints: taints("c") } } },
      options,
    );
    expect(replaced.spec.taints.map(({ key }) => key)).toEqual(["c"]);
    const stepped = await client.patch(
      NODES,
      name,
      {
        kind: "json",
        body: [
          { op: "test", path: "/spec/taints/0/key", value: "c" },
          { op: "remove", path: "/spec/taints" },
        ],
      },
      options,
    );
    expect(stepped.spec.taints).toEqual([]);
    const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
    const addressed = await client.patch(NODES, name, { kind: "strategic", body: { status: { addresses } } }, toStatus);
    expect(addressed.status.addresses).toEqual(addresses);
  });

  test("says what went wrong by code", async () => {
    await createNode("refused");
    const name = { name: "refused" };
    const codeOf = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => "ok",
        (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
      );
    const stale = { metadata: { resourceVersion: "1", labels: { x: "y" } } };
    expect(await codeOf(client.get(NODES, { name: "nobody" }, { signal }))).toBe("notFound");
    expect(await codeOf(createNode("refused"))).toBe("alreadyExists");
    expect(await codeOf(client.patch(NODES, name, { kind: "merge", body: stale }, { signal }))).toBe("conflict");
    const invalid = { metadata: { labels: { "bad key!": "x" } } };
    expect(await codeOf(client.patch(NODES, name, { kind: "merge", body: invalid }, { signal }))).toBe("invalid");
    expect(await codeOf(client.delete(NODES, name, { signal, preconditions: { uid: "other" } }))).toBe("conflict");
    expect(await codeOf(client.delete(NODES, name, { signal }))).toBe("ok");
    expect(await codeOf(client.list(NODES, { signal, continue: "no-token" }))).toBe("invalid");
  });

  test("reports refused permissions with what to do", async () => {
    const { path } = await controlPlane.kubeconfigFor("nobody-special");
    const poor = new Transport({
      access: await kubeconfigAccess({ path, clock }),
      clock,
      metrics: undefined,
      limiter: undefined,
    });
    const refused = new HttpKubeClient({ transport: poor, clock, metrics: undefined, userAgent: "cloudwire-test" });
    await expect(refused.list(NODES, { signal })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringMatching(
        /nobody-special.* cannot list resource "nodes".*; grant it in the ClusterRole of this controller$/,
      ),
    });
    await poor.close();
  });

  test.each(["stream", "pages"] as const)("follows nodes with a list by %s", async (listBy) => {
    const name = `followed-${listBy}`;
    const metrics = new Metrics();
    const informer = createInformer({
      resource: NODES,
      client,
      clock,
      random: Math.random,
      log,
      metrics: informerMetrics(metrics)("Node"),
      listBy,
      indexes: { providerID: ({ spec }) => [spec.providerID] },
    });
    const told: string[] = [];
    informer.addHandler({
      onAdd: ({ metadata }) => told.push(`+${metadata.name}`),
      onUpdate: (_, { metadata }) => told.push(`~${metadata.name}`),
      onDelete: ({ metadata }) => told.push(`-${metadata.name}`),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(10_000));
    expect([...informer.lister.list()]).toStrictEqual([...(await client.list(NODES, { signal })).items]);
    expect(await metrics.value("cloudwire_informer_lists_total", { how: listBy })).toBe(1);
    await createNode(name, { providerID: `example:///${name}` });
    await eventually("added", () => told.includes(`+${name}`));
    await client.patch(NODES, { name }, { kind: "merge", body: { metadata: { labels: { seen: "yes" } } } }, { signal });
    await eventually("updated", () => informer.lister.get(name)?.metadata.labels["seen"] === "yes");
    expect(informer.lister.byIndex("providerID", `example:///${name}`)).toHaveLength(1);
    await client.delete(NODES, { name }, { signal });
    await eventually("deleted", () => told.includes(`-${name}`));
    expect(informer.lastFailure()).toBeUndefined();
    stop.abort();
    await running;
  });

  test("resumes after the API server was killed, missing nothing that happened meanwhile", async () => {
    const metrics = new Metrics();
    const informer = createInformer({
      resource: SERVICES,
      client,
      clock,
      random: Math.random,
      log,
      metrics: informerMetrics(metrics)("Service"),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(10_000));
    await controlPlane.stopApiServer("SIGKILL");
    await eventually("noticed", () => informer.lastFailure() !== undefined);
    await controlPlane.startApiServer();
    await createService("after-restart");
    await eventually("seen", () => informer.lister.get("default/after-restart") !== undefined, 30_000);
    expect(informer.lastFailure()).toBeUndefined();
    stop.abort();
    await running;
  });

  test("counts an event up as upstream's recorder does", async () => {
    const node = await createNode("spoken-of");
    const broadcaster = new EventBroadcaster({
      client,
      clock,
      random: Math.random,
      log,
      metrics: eventMetrics(new Metrics()),
    });
    const recorder = broadcaster.recorder("cloud-node-controller");
    const event = {
      regarding: nodeReference(node),
      type: "Normal",
      reason: "Synced",
      message: "Node synced successfully",
    } as const;
    recorder.record(event);
    recorder.record(event);
    await broadcaster.flush(AbortSignal.timeout(10_000));
    const { items } = await client.list(EVENTS, {
      signal,
      namespace: "default",
      fieldSelector: "involvedObject.name=spoken-of",
    });
    expect(items).toMatchObject([{ reason: "Synced", count: 2, component: "cloud-node-controller", type: "Normal" }]);
    expect(await controlPlane.kubectl(["describe", "node", "spoken-of"])).toContain("Node synced successfully");
  });

  test("elects one leader, and the other at once when it is released", async () => {
    const elect = (identity: string) => {
      const events = { record: () => undefined };
      const elector = new LeaderElector({
        client,
        timings: { ...DEFAULT_TIMINGS, retryPeriodMs: 500 },
        lock: { namespace: "kube-system", name: "cloud-controller-manager" },
        identity,
        clock,
        random: () => 0,
        log,
        events,
        metrics: electionMetrics(new Metrics(), "x"),
      });
      const finished = Promise.withResolvers<void>();
      const end = elector.run(signal, () => finished.promise);
      return { elector, end, finish: finished.resolve };
    };
    const a = elect("a");
    await eventually("a leads", () => a.elector.leading);
    const b = elect("b");
    const lock = { namespace: "kube-system", name: "cloud-controller-manager" };
    const first = await client.get(LEASES, lock, { signal });
    expect(first.spec.renewTime).toMatch(/\.\d{6}Z$/);
    await eventually(
      "a renews",
      async () => (await client.get(LEASES, lock, { signal })).spec.renewTime !== first.spec.renewTime,
    );
    expect(b.elector.leading).toBe(false);
    a.finish();
    expect(await a.end).toBe("stopped");
    await eventually("b leads", () => b.elector.leading, 3000);
    expect((await client.get(LEASES, lock, { signal })).spec).toMatchObject({
      holderIdentity: "b",
      leaseTransitions: 1,
    });
    b.finish();
    await b.end;
  });
});
