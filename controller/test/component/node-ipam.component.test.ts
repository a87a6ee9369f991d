import { type DevCluster, type Interception, type RecordedRequest, startDevCluster } from "@cloudwire/devcluster";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectCluster, type ClusterConnection } from "../../src/kube/cluster.ts";
import { EVENT_SOURCES } from "../../src/api/controller-names.ts";
import { nodeIpam } from "../../src/controllers/node-ipam/controller.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { systemClock } from "../../src/util/clock.ts";
import { asRecord, recordField, stringField, stringsField } from "../../src/util/json.ts";
import { TaskGroup } from "../../src/util/task-group.ts";
import { built, controllerContext } from "../support/controller-context.ts";
import { FakeLog } from "../support/fake-log.ts";
import { ranges } from "../support/node/ipam-harness.ts";
import { eventually } from "../support/poll.ts";

const CLUSTER = ranges(["10.120.0.0/16 24", "fd00:120::/48 64"], ["10.120.0.0/20"]);
const FAMILIES = ["10.120.0.0/16", "fd00:120::/48"] as const;
const SPOKEN_FOR = 16 / 256;
const USER = "a-user";
const WAIT_MS = 30_000;

/** Result of the first write to a Node: it succeeds, it fails, or it succeeds and its response is lost. */
const FATES = ["answered", "refused", "lost"] as const;

/** One controller process, but the process. */
class Manager {
  readonly metrics = new Metrics();
  readonly log = new FakeLog();
  readonly #kube: ClusterConnection;
  readonly #tasks = new TaskGroup((name, error) => this.log.error(name, { err: error }));
  readonly #life = new AbortController();
  readonly #end: Promise<void>;

  constructor(cluster: DevCluster) {
    const { log, metrics } = this;
    const clock = systemClock();
    this.#kube = connectCluster({
      access: {
        server: cluster.url,
        description: "devcluster",
        proxyUrl: undefined,
        credentials: () => Promise.resolve({ headers: {}, tls: {} }),
      },
      options: { kubeApiQps: 0, kubeApiBurst: 1 },
      isEnabled: () => false,
      userAgent: "test",
      metrics,
      log,
      clock,
      random: () => 0.5,
      tracing: NO_TRACING,
    });
    const registered = nodeIpam.register(
      controllerContext({
        options: CLUSTER,
        clock,
        log,
        metrics,
        nodes: this.#kube.nodes,
        client: this.#kube.client,
        record: (event) => this.#kube.events.recorder(EVENT_SOURCES.nodeIpam).record(event),
      }),
    );
    const controller = built(registered);
    this.#tasks.start("nodes informer", (signal) => this.#kube.nodes.run(signal));
    const { signal } = this.#life;
    this.#end = controller.run({ stop: signal, abort: signal });
  }

  usage(): Promise<readonly (number | undefined)[]> {
    const of = (clusterCIDR: string) => this.metrics.value("node_ipam_controller_cidrset_usage_cidrs", { clusterCIDR });
    return Promise.all(FAMILIES.map(of));
  }

  async kill(): Promise<void> {
    this.#life.abort(new Error("killed"));
    await this.#end;
    await this.#tasks.stop(new Error("killed"), AbortSignal.timeout(WAIT_MS));
    await this.#kube.close();
  }
}

let cluster: DevCluster;
let manager: Manager;
let intercept: (request: RecordedRequest) => Interception | Promise<Interception>;

beforeEach(async () => {
  intercept = () => ({ kind: "pass" });
  cluster = await startDevCluster({ controllers: false, intercept: (request) => intercept(request) });
});
afterEach(async () => {
  await manager.kill();
  await cluster.close();
});

async function user(method: string, path: string, body?: object): Promise<void> {
  const response = await fetch(`${cluster.url}/api/v1/${path}`, {
    method,
    headers: { "content-type": "application/strategic-merge-patch+json", "user-agent": USER },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

function held(): readonly (readonly string[])[] {
  return cluster
    .list("v1", "Node")
    .map((node) => stringsField(recordField(asRecord(node, "node"), "spec"), "podCIDRs"));
}

function seedNodes(prefix: string, count: number): void {
  for (let index = 0; index < count; index++) {
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: `${prefix}-${index}` } });
  }
}

async function allRanged(count: number): Promise<readonly string[]> {
  await eventually(
    `${count} nodes have two ranges each`,
    () => held().length === count && held().every(({ length }) => length === 2),
    WAIT_MS,
  );
  return held().flat();
}

/** Writes fail as {@link FATES} has it, each for the first time. */
function failFirstWrites(): void {
  const tried = new Set<string>();
  intercept = async ({ method, path, userAgent, body }) => {
    const [, name = ""] = /\/nodes\/([^?/]+)$/.exec(path) ?? [];
    if (method !== "PATCH" || userAgent === USER || name === "" || tried.has(name)) return { kind: "pass" };
    const fate = FATES[tried.size % FATES.length];
    tried.add(name);
    if (fate === "answered") return { kind: "pass" };
    if (fate === "lost") await user("PATCH", `nodes/${name}`, asRecord(JSON.parse(body), "patch"));
    return { kind: "answer", answer: { status: 500, body: { kind: "Status", reason: "InternalError", code: 500 } } };
  };
}

describe("node-ipam against an API server", () => {
  test("gives no range twice when writes fail and answers are lost, and has all back at the end", async () => {
    failFirstWrites();
    seedNodes("a", 100);
    manager = new Manager(cluster);
    seedNodes("b", 100);
    const given = await allRanged(200);
    expect(new Set(given).size).toBe(400);
    expect(given.filter((range) => /^10\.120\.(?:\d|1[0-5])\./.test(range))).toEqual([]);
    const patches = cluster.requests.filter(({ method, userAgent }) => method === "PATCH" && userAgent !== USER);
    expect(new Set(patches.map(({ path, body }) => `${path} ${body}`)).size).toBe(200);
    await user("DELETE", "nodes");
    await eventually("all is free again", async () => (await manager.usage()).join() === `${SPOKEN_FOR},0`, WAIT_MS);
    const events = cluster.list("v1", "Event").map((event) => stringField(asRecord(event, "event"), "reason"));
    expect(events).toEqual([]);
  });

  test("goes on from what the server has when it is killed in the middle", async () => {
    manager = new Manager(cluster);
    seedNodes("a", 120);
    await eventually("some nodes have ranges", () => held().some(({ length }) => length > 0), WAIT_MS);
    await manager.kill();
    const before = held().filter(({ length }) => length > 0);
    manager = new Manager(cluster);
    seedNodes("b", 50);
    const given = await allRanged(170);
    expect(new Set(given).size).toBe(340);
    expect(before.flat().filter((range) => !given.includes(range))).toEqual([]);
  });
});
