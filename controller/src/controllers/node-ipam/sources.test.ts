import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { node, type NodeParts } from "../../../test/support/builders.ts";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/kube/fake-informer.ts";
import { apiError, FakeKube } from "../../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { NODES } from "../../kube/resources/node.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { parseCidr } from "../../util/cidr.ts";
import { CidrSet } from "./cidr-set.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "../../workqueue/rate-limited-queue.ts";
import { NO_QUEUE_METRICS } from "../../workqueue/metrics.ts";
import { nodeIpamMetrics } from "./metrics.ts";
import { CidrAllocations } from "./cidr-allocations.ts";
import { cidrsSource } from "./sources.ts";

const CLUSTER = parseCidr("10.0.0.0/16");

function ranged(name: string, cidr: string, metadata: NodeParts["metadata"] = {}): Node {
  return node(name, { metadata, spec: { podCIDRs: [cidr] } });
}

/** A server whose list has two pages. */
class Fixture {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly nodes = new FakeInformer<Node>();
  readonly log = new FakeLog();
  /** Limit and token of each. */
  readonly lists: string[] = [];
  readonly set = new CidrSet(CLUSTER ?? { family: "IPv4", text: "", first: 0n, last: 0n }, 24);
  pages: readonly (readonly Node[])[] = [[], []];
  problem: Error | undefined;
  isReady = false;
  readonly #stop = new AbortController();
  readonly #allocations = new CidrAllocations({
    sets: [this.set],
    reserved: [],
    metrics: nodeIpamMetrics(new Metrics()),
    onFreed: () => undefined,
  });

  async start(): Promise<void> {
    const { clock, log, nodes } = this;
    const client: Pick<KubeClient, "get" | "list"> = {
      get: (resource, name, options) => this.kube.get(resource, name, options),
      list: async (resource, { limit, continue: next = "" }) => {
        this.lists.push(`${limit} ${next}`);
        if (this.problem !== undefined) throw this.problem;
        const page = this.pages[next === "second" ? 1 : 0] ?? [];
        const items = page.map(({ metadata: { name, uid }, spec: { podCIDRs } }) =>
          resource.fromJson({ metadata: { name, uid }, spec: { podCIDRs } }),
        );
        return Promise.resolve({
          items,
          resourceVersion: "1",
          continue: next === "second" ? "" : "second",
        });
      },
    };
    const source = cidrsSource({ nodes, kube: client, allocations: this.#allocations, clock, log });
    const queue = createWorkqueue({ clock, limiter: exponentialLimiter(DEFAULT_BACKOFF), metrics: NO_QUEUE_METRICS });
    source.start(queue);
    await source.ready(this.#stop.signal);
    this.isReady = true;
  }

  stop(): void {
    this.#stop.abort(new Error("the test is over"));
  }
}

let world: Fixture;
beforeEach(() => {
  world = new Fixture();
});
afterEach(() => world.stop());

describe("cidrsSource()", () => {
  test("reads all pages of the server's nodes", async () => {
    const [a, b] = [ranged("a", "10.0.0.0/24"), ranged("b", "10.0.1.0/24")];
    world.pages = [[a], [b]];
    for (const each of [a, b]) world.nodes.set(each);
    await world.start();
    expect([world.set.used, world.lists]).toEqual([2, ["500 ", "500 second"]]);
  });

  test("begins the list again when it fails, and says why nothing is handed out", async () => {
    world.problem = apiError("gone");
    const ready = world.start();
    await world.clock.advance(1600);
    expect([world.isReady, world.lists.length]).toEqual([false, 3]);
    expect(world.log.lines[0]).toMatchObject({ level: "warn", fields: { detail: "fake gone" } });
    world.problem = undefined;
    await world.clock.advance(2000);
    await ready;
    expect(world.lists.slice(-2)).toEqual(["500 ", "500 second"]);
  });

  test.each([
    { sentence: "it is gone", seed: undefined },
    { sentence: "another has its name", seed: { metadata: { name: "ghost", uid: "other" } } },
  ])("gives the range of a Node back that the cache never shows, when $sentence", async ({ seed }) => {
    world.pages = [[ranged("ghost", "10.0.0.0/24")], []];
    if (seed !== undefined) world.kube.seed(NODES, seed);
    await world.start();
    expect(world.set.used).toBe(0);
  });

  test("waits for the cache to show a Node that is there, and while the server does not say", async () => {
    const late = ranged("late", "10.0.0.0/24");
    world.pages = [[late], []];
    world.kube.seed(NODES, { metadata: { name: "late", uid: late.metadata.uid } });
    const ready = world.start();
    await world.clock.advance(5000);
    world.kube.intercept = () => apiError("transient");
    await world.clock.advance(5000);
    expect([world.isReady, world.set.used]).toEqual([false, 1]);
    world.nodes.set(late);
    await world.clock.advance(1000);
    await ready;
    expect(world.set.used).toBe(1);
  });

  test("waits no longer for a Node whose end the cache has reported", async () => {
    const late = ranged("late", "10.0.0.0/24");
    world.pages = [[late], []];
    world.kube.intercept = () => apiError("transient");
    const ready = world.start();
    await settle();
    world.nodes.set(late);
    world.nodes.delete("late");
    await world.clock.advance(1000);
    await ready;
    expect(world.set.used).toBe(0);
  });

  test("ends when it is reported to", async () => {
    world.problem = apiError("transient");
    const ready = world.start();
    await settle();
    world.stop();
    await expect(ready).rejects.toThrow("the test is over");
  });
});
