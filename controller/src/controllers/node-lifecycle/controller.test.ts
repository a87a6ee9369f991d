import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/fake-informer.ts";
import { apiError, FakeKube } from "../../../test/support/fake-kube.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { idleProvider, info, instanceCapabilities } from "../../../test/support/provider-builders.ts";
import type { EventInput } from "../../api/event.ts";
import type { Node } from "../../api/node.ts";
import { NODES } from "../../kube/node-resource.ts";
import { contractError, ProviderError } from "../../provider/errors.ts";
import type { Absence, InstanceAnswer, InstanceState } from "../../provider/instance.ts";
import { BatchingInstanceReader } from "../../provider/instance-reader.ts";
import type { ProviderInfo } from "../../provider/provider-info.ts";
import { type Provider, PrefixProviderSet } from "../../provider/provider-set.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { NO_QUEUE_METRICS } from "../../workqueue/metrics.ts";
import { nodeLifecycleController } from "./controller.ts";
import { nodeLifecycleMetrics } from "./metrics.ts";

const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
const RELEASE = "cloudwire.dev/release-deletion";
const UNAVAILABLE = new ProviderError({ code: "UNAVAILABLE", message: "the cloud is down" });

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.stop());

/** What the cloud says of one machine. */
type Said = InstanceState | "absent" | "terminated" | "notMine" | ProviderError;

/** Controller, API server, cloud and provider in one process, under a clock that the test moves. */
class World {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly nodes = new FakeInformer<Node>();
  readonly log = new FakeLog();
  readonly metrics = new Metrics();
  readonly events: string[] = [];
  /** Names of each call. */
  readonly calls: (readonly string[])[] = [];
  readonly says = new Map<string, Said>();
  bootId = "boot-1";
  scopeId = "project-1";
  doubt: string | undefined;
  absence: Partial<Absence> = {};
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** A Node made an hour ago and not Ready for a minute, unless said otherwise. */
  node(
    name: string,
    parts: { readonly ageMs?: number; readonly spec?: object; readonly annotations?: object } = {},
  ): void {
    const { ageMs = 3_600_000, spec = {}, annotations = {} } = parts;
    const metadata = { name, uid: `uid-${name}`, annotations, creationTimestamp: this.#time(ageMs) };
    this.kube.seed(NODES, {
      metadata,
      spec: { providerID: `acme://${name}`, ...spec },
      status: {
        conditions: [{ type: "Ready", status: "Unknown", lastTransitionTime: this.#time(Math.min(ageMs, 60_000)) }],
      },
    });
    this.#show(name);
  }

  names(count: number, prefix = "n"): readonly string[] {
    return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  }

  ready(name: string, status = "True"): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    const conditions = [{ type: "Ready", status, lastTransitionTime: this.#time(0) }];
    this.kube.seed(NODES, { ...stored, status: { conditions } });
    this.#show(name);
  }

  annotate(name: string, annotations: object): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    this.kube.seed(NODES, { ...stored, metadata: { ...Object(stored["metadata"]), annotations } });
    this.#show(name);
  }

  start(): void {
    const { clock, kube, nodes, log } = this;
    const providers = new PrefixProviderSet([this.#provider()]);
    const controller = nodeLifecycleController({
      nodes,
      instances: new BatchingInstanceReader({ providers, clock, signal: this.#stop.signal }),
      providers,
      kube: {
        get: (resource, name, options) => kube.get(resource, name, options),
        patch: async (resource, name, patch, options) => {
          const written = await kube.patch(resource, name, patch, options);
          this.#show(name.name);
          return written;
        },
        delete: async (resource, name, options) => {
          await kube.delete(resource, name, options);
          nodes.delete(name.name);
        },
      },
      events: { record: (event) => void this.events.push(textOf(event)) },
      clock,
      log,
      metrics: nodeLifecycleMetrics(this.metrics),
      queueMetrics: NO_QUEUE_METRICS,
      controllerMetrics: { running: () => undefined, reconciled: () => undefined, workerRestarted: () => undefined },
      onProviderReady: () => () => undefined,
      settings: { periodMs: 5000, confirmations: 2, spanMs: 30_000, maxPercent: 10 },
    });
    const { signal } = this.#stop;
    this.#running = controller.run({ stop: signal, abort: signal });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  /** `verb target`, or the patch itself. */
  get writes(): readonly string[] {
    return this.kube.writes.map(({ verb, target, patch }) =>
      patch === undefined ? `${verb} ${target}` : `${verb} ${target} ${JSON.stringify(patch.body)}`,
    );
  }

  get deletions(): readonly string[] {
    return this.kube.writes.filter(({ verb }) => verb === "delete").map(({ target }) => target.replace("nodes/", ""));
  }

  #provider(): Provider {
    const declared = () => this.#declared();
    const doubt = () => this.doubt;
    const idle = idleProvider("acme", declared());
    return {
      ...idle,
      get info() {
        return declared();
      },
      get doubt() {
        return doubt();
      },
      client: {
        ...idle.client,
        getInstances: (nodes) => {
          this.calls.push(nodes.map(({ name }) => name));
          return Promise.resolve(nodes.map(({ name }) => this.#answer(name)));
        },
      },
    };
  }

  #declared(): ProviderInfo {
    const { bootId, scopeId } = this;
    const instances = instanceCapabilities({ existenceConsistencyDelayMs: 0 });
    return info({ bootId, scopeId, capabilities: { instances } });
  }

  #answer(name: string): InstanceAnswer {
    const said = this.says.get(name) ?? "running";
    const nowMs = this.clock.nowMs();
    const witness = { provider: "acme", scopeId: this.scopeId, bootId: this.bootId, receivedAtMs: nowMs };
    if (said instanceof ProviderError) return { kind: "unknown", error: said };
    if (said === "notMine") return { kind: "notMine", message: "another's" };
    if (said === "absent" || said === "terminated") {
      const basis = said === "terminated" ? "terminated" : "lookupMiss";
      return { kind: "absent", basis, observeTimeMs: nowMs, strong: true, witness, ...this.absence };
    }
    const facts = { instanceType: undefined, zone: undefined, region: undefined, podCidrs: undefined };
    const rest = { addresses: [], stateReason: "", labels: {}, createTimeMs: undefined, revision: "", warnings: [] };
    const instance = { providerId: `acme://${name}`, name, state: said, ...facts, ...rest };
    return { kind: "present", instance, readTimeMs: nowMs, witness };
  }

  #show(name: string): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored !== undefined) this.nodes.set(NODES.fromJson(stored));
  }

  #time(agoMs: number): string {
    return new Date(this.clock.nowMs() - agoMs).toISOString();
  }
}

function textOf({ regarding, type, reason, message }: EventInput): string {
  return `${regarding.name}: ${type} ${reason} ${message}`;
}

describe("cloud-node-lifecycle deletes", () => {
  test("a Node after two absences half a minute apart, if it is still the one and unchanged", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(29_000);
    expect([world.writes, world.events]).toEqual([[], []]);
    await world.clock.advance(2000);
    expect(world.kube.writes).toEqual([
      { verb: "delete", target: "nodes/a", preconditions: { uid: "uid-a", resourceVersion: expect.any(String) } },
    ]);
    expect(world.events).toEqual([
      "a: Normal DeletingNode Deleting node a because it does not exist in the cloud provider",
    ]);
    expect(world.calls).toEqual([["a"], ["a"]]);
    expect(await world.metrics.value("cloudwire_node_deletions_total", { provider: "acme" })).toBe(1);
    await world.clock.advance(120_000);
    expect([world.calls.length, world.deletions]).toEqual([2, ["a"]]);
  });

  test("a Node whose machine is terminated for sure once it has settled", async () => {
    world.node("a");
    world.says.set("a", "terminated");
    world.start();
    await world.clock.advance(4900);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(1000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("a Node that never reported, once it is old enough", async () => {
    world.node("a", { ageMs: 0, spec: { providerID: "" } });
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(35_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("again after a conflict, with two more looks at most, and says nothing of it", async () => {
    world.node("a");
    world.says.set("a", "absent");
    let conflicts = 1;
    world.kube.intercept = ({ verb }) => (verb === "delete" && conflicts-- > 0 ? apiError("conflict") : undefined);
    world.start();
    await world.clock.advance(36_000);
    expect(world.deletions).toEqual(["a", "a"]);
    expect(world.events.filter((event) => event.includes("DeletingNodeFailed"))).toEqual([]);
    expect(world.calls).toHaveLength(3);
  });

  test("again with back-off when the server refuses, and says so", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("forbidden") : undefined);
    world.start();
    await world.clock.advance(31_000);
    expect(world.events).toEqual([
      "a: Normal DeletingNode Deleting node a because it does not exist in the cloud provider",
      "a: Warning DeletingNodeFailed Failed deleting node a: fake forbidden",
    ]);
    await world.clock.advance(300_000);
    expect(world.deletions.length).toBeLessThan(8);
  });
});

describe("cloud-node-lifecycle asks the cloud", () => {
  test("nothing about Nodes that are Ready", async () => {
    for (const name of world.names(50)) {
      world.node(name);
      world.ready(name);
    }
    world.start();
    await world.clock.advance(600_000);
    expect([world.calls, world.writes]).toEqual([[], []]);
  });

  test("nothing about Nodes that have just joined", async () => {
    for (const name of world.names(50)) world.node(name, { ageMs: 0, spec: {} });
    world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    await world.clock.advance(2000);
    expect(world.calls).toEqual([expect.any(Array)]);
  });

  test("about a pool that is off in one call each half minute in the end", async () => {
    const names = world.names(100);
    for (const name of names) {
      world.node(name);
      world.says.set(name, "stopped");
    }
    world.start();
    await world.clock.advance(60_000);
    const early = world.calls.length;
    expect(early).toBeLessThanOrEqual(6);
    await world.clock.advance(300_000);
    expect(world.calls.length - early).toBe(10);
    expect(new Set(world.calls.map((names) => names.length))).toEqual(new Set([100]));
    expect(world.kube.writes.filter(({ verb }) => verb === "patch")).toHaveLength(100);
  });

  test("at once again when the Node changes", async () => {
    world.node("a");
    world.start();
    await world.clock.advance(200_000);
    const before = world.calls.length;
    world.ready("a", "False");
    await world.clock.advance(100);
    expect(world.calls.length - before).toBe(1);
  });
});

describe("cloud-node-lifecycle marks", () => {
  test("a stopped machine's Node, and unmarks it when it is Ready, keeping other taints", async () => {
    world.node("a", { spec: { taints: [{ key: "own", value: "v", effect: "NoExecute" }] } });
    world.says.set("a", "stopped");
    world.start();
    await world.clock.advance(50);
    world.ready("a");
    await world.clock.advance(50);
    const own = { key: "own", value: "v", effect: "NoExecute" };
    const version = expect.any(String);
    expect(world.kube.writes.map(({ patch }) => patch?.body)).toEqual([
      { metadata: { uid: "uid-a", resourceVersion: version }, spec: { taints: [own, SHUTDOWN] } },
      { metadata: { uid: "uid-a", resourceVersion: version }, spec: { taints: [own] } },
    ]);
    expect(world.events).toEqual([]);
  });

  test("a Node no more whose machine runs again", async () => {
    world.node("a", { spec: { taints: [SHUTDOWN] } });
    world.start();
    await world.clock.advance(50);
    expect(world.kube.stored(NODES, { name: "a" })).toMatchObject({ spec: {} });
    expect(world.kube.writes).toHaveLength(1);
  });

  test.each<{ said: Said }>([
    { said: "stopping" },
    { said: "pending" },
    { said: "unknown" },
    { said: UNAVAILABLE },
    { said: "absent" },
  ])("nothing while the cloud says $said", async ({ said }) => {
    world.node("a", { spec: { taints: [SHUTDOWN] } });
    world.node("b");
    for (const name of ["a", "b"]) world.says.set(name, said);
    world.start();
    await world.clock.advance(20_000);
    expect(world.writes).toEqual([]);
  });
});

describe("cloud-node-lifecycle deletes nothing", () => {
  test.each<{ it: string; said: Said }>([
    { it: "that is another's", said: "notMine" },
    { it: "while the cloud is down", said: UNAVAILABLE },
    { it: "without rights", said: contractError("CLOUD_PERMISSION_DENIED", "403") },
    { it: "while a machine is too new to be read", said: contractError("NOT_YET_CONSISTENT", "new") },
    { it: "while throttled", said: contractError("RATE_LIMITED", "429") },
  ])("$it", async ({ said }) => {
    for (const name of world.names(200)) {
      world.node(name);
      world.says.set(name, said);
    }
    world.start();
    await world.clock.advance(600_000);
    expect([world.writes, world.events]).toEqual([[], []]);
    expect(world.calls.length).toBeGreaterThan(0);
  });

  test("of another provider's prefix, and asks nothing", async () => {
    world.node("a", { spec: { providerID: "gce://1" } });
    world.start();
    await world.clock.advance(600_000);
    expect([world.writes, world.events, world.calls]).toEqual([[], [], []]);
  });

  test("when the cloud wavers, until it stands by its word for long enough", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(1000);
    world.says.set("a", contractError("RATE_LIMITED", "429"));
    await world.clock.advance(35_000);
    world.says.set("a", "absent");
    await world.clock.advance(20_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(45_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("when the provider is another process at the second look", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(20_000);
    world.bootId = "boot-2";
    await world.clock.advance(35_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(30_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("within a minute of a failure about another Node, and says why", async () => {
    world.node("a");
    world.node("sick");
    world.says.set("a", "absent");
    world.says.set("sick", UNAVAILABLE);
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual([
      "a: Warning NodeDeletionHeld Node is not deleted: provider acme failed less than 60 s ago",
    ]);
    world.says.set("sick", "running");
    await world.clock.advance(100_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test.each<{ it: string; said: Said }>([
    { it: "throttled", said: contractError("RATE_LIMITED", "429") },
    { it: "asked about a machine too new", said: contractError("NOT_YET_CONSISTENT", "new") },
    { it: "asked about a malformed ID", said: contractError("PROVIDER_ID_MALFORMED", "acme://?") },
  ])("only while the provider is sick, which it is not when $it", async ({ said }) => {
    world.node("a");
    world.node("other");
    world.says.set("a", "absent");
    world.says.set("other", said);
    world.start();
    await world.clock.advance(31_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("while the provider is in doubt, and says why once", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.doubt = "scope changed";
    world.start();
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual(["a: Warning NodeDeletionHeld Node is not deleted: provider acme: scope changed"]);
    world.doubt = undefined;
    await world.clock.advance(31_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("that became Ready while the cloud was asked", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(29_000);
    world.ready("a");
    await world.clock.advance(100_000);
    expect(world.writes).toEqual([]);
  });

  test("from readings that stand still, and says so in the end", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.absence = { observeTimeMs: world.clock.nowMs() };
    world.start();
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual(["a: Warning NodeDeletionHeld Node is not deleted: 1 of 2 absences, over 0 of 30 s"]);
  });
});

describe("the brake", () => {
  const state = async () => [
    await world.metrics.value("cloudwire_node_deletion_stopped", { provider: "acme" }),
    await world.metrics.value("cloudwire_node_deletion_pending", { provider: "acme" }),
  ];

  test.each<{ said: Said }>([{ said: "absent" }, { said: "terminated" }])(
    "stops before the first of too many goes, says so on each, and lets go what is released ($said)",
    async ({ said }) => {
      const names = world.names(40);
      for (const name of names) world.node(name);
      const gone = names.slice(0, 24);
      for (const name of gone) world.says.set(name, said);
      world.start();
      await world.clock.advance(600_000);
      expect(world.deletions).toEqual([]);
      expect(world.events).toHaveLength(24);
      expect(world.events).toContain(
        "n0: Warning NodeDeletionStopped Node is not deleted: provider acme calls the machines of 24 of 40 Nodes absent, and at most 4 go within 10 minutes. If that is true, release it: kubectl annotate node n0 cloudwire.dev/release-deletion=true",
      );
      expect(await state()).toEqual([1, 24]);
      expect(world.log.messages("error")).toHaveLength(1);

      // On all of them, as an operator in a hurry would.
      for (const name of names) world.annotate(name, { [RELEASE]: "true" });
      await world.clock.advance(60_000);
      expect(world.deletions.toSorted()).toEqual(gone.toSorted());
      expect(await state()).toEqual([0, 0]);
      // What was released in vain is not released for ever.
      expect([...world.nodes.lister.list()].map(({ metadata }) => metadata.annotations)).toEqual(
        Array.from({ length: 16 }, () => ({})),
      );
    },
  );

  test("lets go by itself when fewer are gone", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    const gone = names.slice(0, 5);
    for (const name of gone) world.says.set(name, "absent");
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    for (const name of gone.slice(0, 2)) world.says.set(name, "running");
    await world.clock.advance(61_000);
    expect(world.deletions.toSorted()).toEqual(gone.slice(2));
  });

  test("counts what went within ten minutes", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    world.start();
    for (const name of names.slice(0, 3)) world.says.set(name, "absent");
    await world.clock.advance(120_000);
    expect(world.deletions).toHaveLength(3);
    world.says.set("n3", "absent");
    await world.clock.advance(400_000);
    expect(world.deletions).toHaveLength(3);
    await world.clock.advance(200_000);
    expect(world.deletions).toHaveLength(4);
  });

  test("does not count what the autoscaler takes away", async () => {
    const spec = { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] };
    for (const name of world.names(20)) {
      world.node(name, { spec });
      world.says.set(name, "absent");
    }
    world.node("other");
    world.says.set("other", "absent");
    world.start();
    await world.clock.advance(40_000);
    expect(world.deletions).toHaveLength(21);
    expect(await state()).toEqual([0, 1]);
  });
});
