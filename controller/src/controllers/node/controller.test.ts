import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CREATED_MS, instance, node, taint } from "../../../test/support/builders.ts";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/fake-informer.ts";
import { apiError, FakeKube } from "../../../test/support/fake-kube.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import type { EventInput } from "../../api/event.ts";
import type { Node } from "../../api/node.ts";
import { NODES } from "../../kube/node-resource.ts";
import { contractError } from "../../provider/errors.ts";
import type { InstanceAnswer } from "../../provider/instance.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { NO_QUEUE_METRICS } from "../../workqueue/metrics.ts";
import { cloudNodeController } from "./controller.ts";
import { nodeMetrics } from "./metrics.ts";

const REFRESH_MS = 300_000;
const MINUTE_MS = 60_000;
const UNINITIALIZED = taint("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", "true");

const UNOWNED: InstanceAnswer = { kind: "notMine", message: "no provider owns acme://i-1" };

/** The controller alone: what the cloud says is the test's, at what times it was asked is remembered. */
class World {
  readonly clock = new FakeClock(CREATED_MS);
  readonly kube = new FakeKube();
  readonly nodes = new FakeInformer<Node>();
  readonly metrics = new Metrics();
  readonly events: EventInput[] = [];
  readonly askedAtMs: number[] = [];
  says: InstanceAnswer = UNOWNED;
  readonly #stop = new AbortController();
  #end: Promise<void> = Promise.resolve();
  #providerReady: () => void = () => undefined;

  start(subject: Node): void {
    this.nodes.set(subject);
    this.kube.seed(NODES, {
      metadata: { name: subject.metadata.name, uid: subject.metadata.uid },
      status: { addresses: subject.status.addresses },
    });
    const controller = cloudNodeController({
      nodes: this.nodes,
      instances: {
        get: async () => {
          this.askedAtMs.push(this.clock.monotonicMs());
          return this.says;
        },
      },
      providers: { providers: [] },
      kube: this.kube,
      events: { record: (event) => this.events.push(event) },
      clock: this.clock,
      log: new FakeLog(),
      metrics: nodeMetrics(this.metrics),
      queueMetrics: NO_QUEUE_METRICS,
      controllerMetrics: { running: () => undefined, reconciled: () => undefined, workerRestarted: () => undefined },
      onProviderReady: (listener) => {
        this.#providerReady = listener;
        return () => undefined;
      },
      settings: { workers: 1, refreshPeriodMs: REFRESH_MS, topologyPolicy: "warn" },
    });
    const { signal } = this.#stop;
    this.#end = controller.run({ stop: signal, abort: signal });
  }

  providerReady(): void {
    this.#providerReady();
  }

  unowned(): Promise<number | undefined> {
    return this.metrics.value("cloudwire_nodes_unowned", {});
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#end;
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.stop());

const waiting = (): Node => node("a", { spec: { providerID: "acme://i-1", taints: [UNINITIALIZED] } });

describe("cloud-node tries again", () => {
  test.each([
    ["CLOUD_CREDENTIALS_INVALID", [0, 1, 3, 7, 12]],
    ["QUOTA_EXCEEDED", [0, 1, 3, 7, 15]],
    ["PROVIDER_ID_MALFORMED", [0]],
  ] as const)("after %s as slowly as the contract says", async (reason, minutes) => {
    world.says = { kind: "unknown", error: contractError(reason, "m") };
    world.start(waiting());
    await world.clock.advance(15 * MINUTE_MS);
    expect(world.askedAtMs).toEqual(minutes.map((minute) => minute * MINUTE_MS));
  });

  test("at once when a new process of the provider is there, though the failure was final", async () => {
    world.says = { kind: "unknown", error: contractError("CAPABILITY_ABSENT", "m") };
    world.start(waiting());
    await world.clock.advance(MINUTE_MS);
    world.providerReady();
    await settle();
    expect(world.askedAtMs).toEqual([0, MINUTE_MS]);
  });

  test("with the queue's back-off while the cloud is away", async () => {
    world.says = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "m") };
    world.start(waiting());
    await world.clock.advance(40);
    expect(world.askedAtMs).toEqual([0, 5, 15, 35]);
  });
});

describe("cloud-node refreshes", () => {
  const machine = (address: string): InstanceAnswer => ({
    kind: "present",
    instance: instance({ providerId: "acme://i-1", name: "a", addresses: [{ type: "InternalIP", address }] }),
    readTimeMs: 0,
    witness: { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: 0 },
  });
  const initialized = (): Node =>
    node("a", {
      spec: { providerID: "acme://i-1" },
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
    });

  test("again before the next tick when the addresses could not be written", async () => {
    world.says = machine("10.0.0.2");
    let failures = 2;
    world.kube.intercept = () => (failures-- > 0 ? apiError("transient") : undefined);
    world.start(initialized());
    await world.clock.advance(1000);
    expect(world.kube.stored(NODES, { name: "a" })).toMatchObject({
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.2" }, { $patch: "replace" }] },
    });
  });

  test("once a tick when all is well", async () => {
    world.says = machine("10.0.0.1");
    world.start(initialized());
    await world.clock.advance(1000);
    world.providerReady();
    await world.clock.advance(2 * REFRESH_MS);
    expect(world.askedAtMs).toEqual([0, REFRESH_MS, 2 * REFRESH_MS]);
  });

  test("again when the provider is back, if it could not say", async () => {
    world.says = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "m") };
    world.start(initialized());
    await world.clock.advance(1000);
    world.providerReady();
    await settle();
    expect(world.askedAtMs).toEqual([0, 1000]);
  });
});

describe("cloud-node leaves a Node alone that no provider owns", () => {
  const said = () => world.events.map(({ type, reason, message }) => [type, reason, message]);

  test("counts it, and says so once it has waited for long", async () => {
    world.start(waiting());
    await world.clock.advance(4 * MINUTE_MS);
    expect([await world.unowned(), said()]).toEqual([1, []]);
    await world.clock.advance(30 * MINUTE_MS);
    expect([await world.unowned(), said()]).toEqual([
      1,
      [
        [
          "Warning",
          "InitializeNodeFailed",
          "Node is not initialized: no provider has owned it for 5 min: no provider owns acme://i-1",
        ],
      ],
    ]);
    expect(world.kube.writes).toEqual([]);
  });

  test.each<[string, () => void]>([
    ["is initialised by somebody else", () => world.nodes.set(node("a", { spec: { providerID: "acme://i-1" } }))],
    ["goes", () => world.nodes.delete("a")],
  ])("and counts it no more when it %s", async (_, happens) => {
    world.start(waiting());
    await world.clock.advance(MINUTE_MS);
    happens();
    await world.clock.advance(10 * MINUTE_MS);
    expect([await world.unowned(), said()]).toEqual([0, []]);
  });
});
