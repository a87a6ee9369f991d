import { expect, test } from "vitest";
import { NETWORK_UNAVAILABLE, type Node, nodeReference, READY } from "../../../src/api/node.ts";
import type { Service } from "../../../src/api/service.ts";
import { createInformer } from "../../../src/kube/cache/informer.ts";
import { EventBroadcaster, SPAM_REFILL_MS } from "../../../src/kube/events/broadcaster.ts";
import { eventMetrics } from "../../../src/kube/events/metrics.ts";
import { EVENTS } from "../../../src/kube/resources/event.ts";
import type { HttpKubeClient } from "../../../src/kube/http-client.ts";
import { informerMetrics } from "../../../src/kube/cache/metrics.ts";
import { DEFAULT_TIMINGS } from "./candidate.ts";
import { electionMetrics, LeaderElector } from "../../../src/leadership/elector.ts";
import { LEASES } from "../../../src/leadership/lease-lock.ts";
import { NODES } from "../../../src/kube/resources/node.ts";
import type { Resource } from "../../../src/kube/resources/codec.ts";
import { SERVICES } from "../../../src/kube/resources/service.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { NO_ANNOTATIONS } from "./candidate.ts";
import { FakeLog } from "../fake-log.ts";
import { eventually } from "../poll.ts";

const signal = new AbortController().signal;
const clock = systemClock();
const log = new FakeLog();

/** The same kind, always read as JSON. */
function asJson<T>({ group, version, kind, plural, namespaced, fromJson }: Resource<T>): Resource<T> {
  return { group, version, kind, plural, namespaced, fromJson };
}

const taints = (...keys: readonly string[]): { key: string; effect: string }[] =>
  keys.map((key) => ({ key, effect: "NoSchedule" }));

/** What the runtime must do alike on every API server, the real one and the one in memory. Call inside a describe. */
export function testRuntime(target: () => HttpKubeClient): void {
  const createNode = (name: string, spec: Record<string, string> = {}): Promise<Node> =>
    target().create(NODES, undefined, { metadata: { name }, spec: { ...spec, taints: taints("a", "b") } }, { signal });

  const createService = (name: string): Promise<Service> =>
    target().create(
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
    await target().patch(
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
    const node = await target().get(NODES, { name: "twice" }, { signal });
    const service = await target().get(SERVICES, { namespace: "default", name: "twice" }, { signal });
    expect(node).toStrictEqual(await target().get(asJson(NODES), { name: "twice" }, { signal }));
    expect(service).toStrictEqual(
      await target().get(asJson(SERVICES), { namespace: "default", name: "twice" }, { signal }),
    );
    expect(node.spec).toMatchObject({ podCIDRs: ["10.244.9.0/24"], providerID: "example:///twice" });
    expect(service.spec).toMatchObject({
      allocateLoadBalancerNodePorts: true,
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    });
    expect(service.spec.healthCheckNodePort).toBeGreaterThan(0);
    expect(service.status.loadBalancer.ingress[0]?.ipMode).toBe("VIP");
    const [fromProtobuf, fromJson] = [
      await target().list(NODES, { signal }),
      await target().list(asJson(NODES), { signal }),
    ];
    expect(fromProtobuf.items).toStrictEqual(fromJson.items);
  });

  test("applies every kind of patch, the strategic one by keys", async () => {
    await createNode("patched");
    const options = { signal };
    const name = { name: "patched" };
    const condition = (type: string) => ({ type, status: "True", reason: "Test" });
    const toStatus = { ...options, subresource: "status" };
    await target().patch(
      NODES,
      name,
      { kind: "strategic", body: { status: { conditions: [condition(READY)] } } },
      toStatus,
    );
    const merged = await target().patch(
      NODES,
      name,
      { kind: "strategic", body: { status: { conditions: [condition(NETWORK_UNAVAILABLE)] } } },
      toStatus,
    );
    expect(merged.status.conditions.map(({ type }) => type).toSorted()).toEqual([NETWORK_UNAVAILABLE, READY]);
    const replaced = await target().patch(
      NODES,
      name,
      { kind: "merge", body: { spec: { taints: taints("c") } } },
      options,
    );
    expect(replaced.spec.taints.map(({ key }) => key)).toEqual(["c"]);
    const stepped = await target().patch(
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
    const addressed = await target().patch(
      NODES,
      name,
      { kind: "strategic", body: { status: { addresses } } },
      toStatus,
    );
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
    expect(await codeOf(target().get(NODES, { name: "missing" }, { signal }))).toBe("notFound");
    expect(await codeOf(createNode("refused"))).toBe("alreadyExists");
    expect(await codeOf(target().patch(NODES, name, { kind: "merge", body: stale }, { signal }))).toBe("conflict");
    const invalid = { metadata: { labels: { "bad key!": "x" } } };
    expect(await codeOf(target().patch(NODES, name, { kind: "merge", body: invalid }, { signal }))).toBe("invalid");
    expect(await codeOf(target().delete(NODES, name, { signal, preconditions: { uid: "other" } }))).toBe("conflict");
    expect(await codeOf(target().delete(NODES, name, { signal }))).toBe("ok");
    expect(await codeOf(target().list(NODES, { signal, continue: "no-token" }))).toBe("invalid");
  });

  test.each(["stream", "pages"] as const)("follows nodes with a list by %s", async (listBy) => {
    const name = `followed-${listBy}`;
    const metrics = new Metrics();
    const informer = createInformer({
      resource: NODES,
      client: target(),
      clock,
      random: Math.random,
      log,
      metrics: informerMetrics(metrics)("Node"),
      listBy,
      indexes: { providerID: ({ spec }) => [spec.providerID] },
    });
    const received: string[] = [];
    informer.addHandler({
      onAdd: ({ metadata }) => received.push(`+${metadata.name}`),
      onUpdate: (_, { metadata }) => received.push(`~${metadata.name}`),
      onDelete: ({ metadata }) => received.push(`-${metadata.name}`),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(10_000));
    expect([...informer.lister.list()]).toStrictEqual([...(await target().list(NODES, { signal })).items]);
    expect(await metrics.value("cloudwire_informer_lists_total", { method: listBy })).toBe(1);
    await createNode(name, { providerID: `example:///${name}` });
    await eventually("added", () => received.includes(`+${name}`));
    await target().patch(
      NODES,
      { name },
      { kind: "merge", body: { metadata: { labels: { seen: "yes" } } } },
      { signal },
    );
    await eventually("updated", () => informer.lister.get(name)?.metadata.labels["seen"] === "yes");
    expect(informer.lister.byIndex("providerID", `example:///${name}`)).toHaveLength(1);
    await target().delete(NODES, { name }, { signal });
    await eventually("deleted", () => received.includes(`-${name}`));
    expect(informer.lastFailure()).toBeUndefined();
    stop.abort();
    await running;
  });

  test("counts an event up as upstream's recorder does", async () => {
    const node = await createNode("spoken-of");
    const broadcaster = new EventBroadcaster({
      client: target(),
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
    const { items } = await target().list(EVENTS, {
      signal,
      namespace: "default",
      fieldSelector: "involvedObject.name=spoken-of",
    });
    expect(items).toMatchObject([{ reason: "Synced", count: 2, component: "cloud-node-controller", type: "Normal" }]);
  });

  test("makes ten Events of 200 similar ones, counts them all, and goes on when tokens come back", async () => {
    const node = await createNode("talked-about");
    const metrics = new Metrics();
    let aheadMs = 0;
    const broadcaster = new EventBroadcaster({
      client: target(),
      clock: { ...clock, monotonicMs: () => clock.monotonicMs() + aheadMs },
      random: Math.random,
      log,
      metrics: eventMetrics(metrics),
    });
    const recorder = broadcaster.recorder("route_controller");
    const say = (number: number): void =>
      recorder.record({
        regarding: nodeReference(node),
        type: "Warning",
        reason: "FailedToCreateRoute",
        message: `attempt ${number}`,
      });
    for (let number = 1; number <= 200; number++) say(number);
    aheadMs = SPAM_REFILL_MS;
    say(201);
    await broadcaster.flush(AbortSignal.timeout(30_000));
    const { items } = await target().list(EVENTS, {
      signal,
      namespace: "default",
      fieldSelector: "involvedObject.name=talked-about",
    });
    const received = new Map(items.map(({ message, count }) => [message, count]));
    expect(received).toEqual(
      new Map([
        ...Array.from({ length: 9 }, (_, index) => [`attempt ${index + 1}`, 1] as const),
        ["(combined from similar events): attempt 201", 192],
      ]),
    );
    expect(await metrics.value("cloudwire_events_sent_total")).toBe(26);
    expect(await metrics.value("cloudwire_events_dropped_total", { reason: "rate_limited" })).toBe(175);
  });

  test("elects one leader, and the other at once when it is released", async () => {
    const elect = (identity: string) => {
      const events = { record: () => undefined };
      const elector = new LeaderElector({
        client: target(),
        timings: { ...DEFAULT_TIMINGS, retryPeriodMs: 500 },
        lock: { namespace: "kube-system", name: "cloud-controller-manager" },
        identity,
        clock,
        random: () => 0,
        log,
        events,
        metrics: electionMetrics(new Metrics())("x"),
        annotations: NO_ANNOTATIONS,
      });
      const finished = Promise.withResolvers<void>();
      const end = elector.run(signal, () => finished.promise);
      return { elector, end, finish: finished.resolve };
    };
    const a = elect("a");
    await eventually("a leads", () => a.elector.leading);
    const b = elect("b");
    const lock = { namespace: "kube-system", name: "cloud-controller-manager" };
    const first = await target().get(LEASES, lock, { signal });
    expect(first.spec.renewTime).toMatch(/\.\d{6}Z$/);
    await eventually(
      "a renews",
      async () => (await target().get(LEASES, lock, { signal })).spec.renewTime !== first.spec.renewTime,
    );
    expect(b.elector.leading).toBe(false);
    a.finish();
    expect(await a.end).toBe("stopped");
    await eventually("b leads", () => b.elector.leading, 3000);
    expect((await target().get(LEASES, lock, { signal })).spec).toMatchObject({
      holderIdentity: "b",
      leaseTransitions: 1,
    });
    b.finish();
    await b.end;
  });
}
