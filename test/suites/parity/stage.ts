import type { Instance, InstanceSpec } from "@cloudwire/provider-simulated";
import { eventually } from "../../support/eventually.ts";
import { at, type Json, listOf } from "../../support/kube.ts";
import type { ParityWorld } from "./world.ts";

export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
export const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
export const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";

const CALL_MS = 10_000;
const WAIT_MS = 25_000;
const CLEAR_MS = 8000;
/** No writes for so long: longer than every period of either side in these runs, except the refresh of addresses. */
const QUIET_MS = 3000;
/** Until both sides have seen a deletion. */
const WATCH_MS = 1000;
/** News of hundreds of objects at once, each with a rest after it. */
const EVENTS_MS = 60_000;

/** What a scenario's Node starts with; the defaults are those of a kubelet that waits for its cloud. */
export interface NodeShape {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Json;
  readonly addresses?: readonly Json[];
  /** Status of the Ready condition; default True, "none": there is no such condition. */
  readonly ready?: "True" | "False" | "Unknown" | "none";
  /** Default: the Node is kept out of load balancers, so that scenarios about Services do not see it. */
  readonly target?: boolean;
}

/** The part of a world that one scenario has for itself: everything that it makes is named after it. */
export class Stage {
  readonly world: ParityWorld;
  /** Prefix of Nodes and machines, and the name of the namespace. */
  readonly slug: string;
  readonly machines = new Map<string, Instance>();
  readonly nodes = new Set<string>();
  readonly services = new Map<string, string>();
  /** What was waited for without success: an observation like any other. */
  readonly inVain: string[] = [];
  /** Writes and calls before this moment do not count. */
  fromMs = 0;

  constructor(world: ParityWorld, slug: string) {
    this.world = world;
    this.slug = slug;
  }

  get namespace(): string {
    return `/api/v1/namespaces/${this.slug}`;
  }

  /** The full name of a Node or a machine of this scenario. */
  full(local: string): string {
    return `${this.slug}-${local}`;
  }

  /** A running machine. */
  async machine(local: string, spec: Partial<InstanceSpec> = {}): Promise<Instance> {
    const wanted = { name: this.full(local), zone: "north-a", ...spec };
    const [made] = await this.world.cloud.createInstances([wanted], AbortSignal.timeout(CALL_MS));
    if (made === undefined) throw new Error(`the cloud made no machine ${wanted.name}`);
    this.machines.set(made.id, made);
    return made;
  }

  /** The Node of a kubelet that came up. */
  async node(local: string, shape: NodeShape = {}): Promise<void> {
    const name = this.full(local);
    const { labels = {}, annotations = {}, spec = {}, target = false, ready = "True", addresses = [] } = shape;
    const excluded = target ? {} : { [EXCLUDED]: "" };
    this.nodes.add(name);
    await this.world.kube.create("/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, annotations, labels: { "kubernetes.io/hostname": name, ...excluded, ...labels } },
      spec: { taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }], ...spec },
      status: { addresses, conditions: ready === "none" ? [] : [readyCondition(ready)] },
    });
  }

  /** A machine and its Node, which both sides have taken in. */
  async join(local: string, spec: Partial<InstanceSpec> = {}, shape: NodeShape = {}): Promise<Instance> {
    const machine = await this.machine(local, spec);
    await this.node(local, shape);
    await this.initialized(local);
    return machine;
  }

  async initialized(local: string): Promise<void> {
    // The addresses too: one side writes them after the taint is gone.
    await this.seeNode(
      local,
      "is initialized",
      (node) => !hasTaint(node, UNINITIALIZED) && addressesOf(node).length > 1,
    );
  }

  async patchNode(local: string, patch: Json): Promise<void> {
    await this.world.kube.patch(`/api/v1/nodes/${this.full(local)}`, patch);
  }

  async ready(local: string, status: "True" | "False" | "Unknown"): Promise<void> {
    const path = `/api/v1/nodes/${this.full(local)}/status`;
    await this.world.kube.patch(path, { status: { conditions: [readyCondition(status)] } });
  }

  async deleteNode(local: string): Promise<void> {
    await this.world.kube.delete(`/api/v1/nodes/${this.full(local)}`);
  }

  async service(local: string, spec: Json = {}, metadata: Json = {}): Promise<void> {
    await this.world.kube.send("POST", "/api/v1/namespaces", { metadata: { name: this.slug } });
    const made = await this.world.kube.create(`${this.namespace}/services`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...metadata, name: local },
      spec: {
        type: "LoadBalancer",
        selector: { app: local },
        ports: [{ name: "web", port: 8080, protocol: "TCP", targetPort: 80 }],
        ...spec,
      },
    });
    this.services.set(local, String(at(made, "metadata", "uid")));
  }

  /** A Service that has its address. */
  async serve(local: string, spec: Json = {}, metadata: Json = {}): Promise<void> {
    await this.service(local, spec, metadata);
    await this.addressed(local);
  }

  async addressed(local: string): Promise<void> {
    await this.seeService(
      local,
      "has an address",
      (service) => at(service, "status", "loadBalancer", "ingress", 0) !== undefined,
    );
  }

  async patchService(local: string, patch: Json): Promise<void> {
    await this.world.kube.patch(`${this.namespace}/services/${local}`, patch);
  }

  async deleteService(local: string): Promise<void> {
    await this.world.kube.delete(`${this.namespace}/services/${local}`);
  }

  async serviceGone(local: string): Promise<void> {
    await this.see(
      `Service ${local} is gone`,
      async () => (await this.world.kube.find(`${this.namespace}/services/${local}`)) === undefined,
    );
  }

  async nodeGone(local: string): Promise<void> {
    await this.see(
      `Node ${local} is gone`,
      async () => (await this.world.kube.find(`/api/v1/nodes/${this.full(local)}`)) === undefined,
    );
  }

  async seeNode(local: string, what: string, holds: (node: Json) => boolean, timeoutMs = WAIT_MS): Promise<void> {
    const look = async (): Promise<boolean> => {
      const node = await this.world.kube.find(`/api/v1/nodes/${this.full(local)}`);
      return node !== undefined && holds(node);
    };
    await this.see(`Node ${local} ${what}`, look, timeoutMs);
  }

  async seeService(local: string, what: string, holds: (service: Json) => boolean, timeoutMs = WAIT_MS): Promise<void> {
    const look = async (): Promise<boolean> => {
      const service = await this.world.kube.find(`${this.namespace}/services/${local}`);
      return service !== undefined && holds(service);
    };
    await this.see(`Service ${local} ${what}`, look, timeoutMs);
  }

  /** Types of the Service's conditions. */
  async conditionsOf(local: string): Promise<readonly string[]> {
    const service = await this.world.kube.get(`${this.namespace}/services/${local}`);
    return listOf(at(service, "status", "conditions")).map(({ type }) => String(type));
  }

  /** Waits for an event about an object of this scenario. */
  async seeEvent(kind: "Node" | "Service", local: string, reason: string): Promise<void> {
    const name = kind === "Node" ? this.full(local) : local;
    await this.see(`${kind} ${local} has an event ${reason}`, async () => {
      const events = await this.world.events();
      return events.some(
        (event) =>
          event["reason"] === reason &&
          at(event, "involvedObject", "name") === name &&
          (kind === "Node" || at(event, "involvedObject", "namespace") === this.slug),
      );
    });
  }

  /** Names of the machines that a Service's load balancer forwards to become these. */
  async targetsAre(service: string, ...locals: readonly string[]): Promise<void> {
    const wanted = locals
      .map((local) => this.full(local))
      .toSorted()
      .join();
    await this.see(
      `Service ${service} forwards to ${locals.join(", ")}`,
      async () => (await this.targets(service)).join() === wanted,
    );
  }

  /** Names of the machines of this scenario that a Service's load balancer forwards to, sorted. */
  async targets(service: string): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(CALL_MS);
    const tag = [`cloudwire.dev/service-uid=${this.services.get(service) ?? ""}`];
    const { items } = await this.world.cloud.listLoadBalancers({ consistent: true, tag }, signal);
    const [loadBalancer] = items;
    if (loadBalancer === undefined) return [];
    const targets = await this.world.cloud.targets(loadBalancer.id, signal);
    return targets.flatMap(({ instanceId }) => this.machines.get(instanceId)?.name ?? []).toSorted();
  }

  /** Waits until the condition holds; if it never does, that is part of what is compared. */
  async see(what: string, holds: () => Promise<boolean>, timeoutMs = WAIT_MS): Promise<void> {
    try {
      await eventually(what, timeoutMs, async () => ((await holds()) ? true : undefined));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.inVain.push(what);
    }
  }

  /** Waits until the controllers have left the objects of this scenario alone for a while; gives up after a longer one. */
  async quiet(timeoutMs = 12_000): Promise<void> {
    const fromMs = Date.now();
    await eventually("", 2 * timeoutMs, async () => {
      const writes = (await this.world.writes()).filter((event) => this.owns(event.namespace, event.name));
      const lastMs = Math.max(fromMs, ...writes.map(({ receivedAt }) => Date.parse(receivedAt)));
      return Date.now() - lastMs >= QUIET_MS || Date.now() - fromMs > timeoutMs ? true : undefined;
    });
    // What was recorded before this moment is written when none is left that waits.
    await eventually("the events to be written", EVENTS_MS, async () =>
      (await this.world.eventsWait()) ? undefined : true,
    );
  }

  /** Lets time pass in which something must not, or need not, happen. */
  async outlast(durationMs: number): Promise<void> {
    const endMs = performance.now() + durationMs;
    await eventually("the time to pass", 2 * durationMs, () => (performance.now() > endMs ? true : undefined));
  }

  /** Whether an object, or an event about one, belongs to this scenario. */
  owns(namespace: string | undefined, name: string | undefined): boolean {
    if (namespace === this.slug) return true;
    if (name === undefined) return false;
    return this.nodes.has(name) || this.nodes.has(name.replace(/\.[0-9a-f]+$/, ""));
  }

  /** Takes away what the scenario made, so that the next batch begins with an empty cluster. */
  async clear(): Promise<void> {
    const { kube, cloud } = this.world;
    await this.#removeNodes();
    for (const local of this.services.keys()) await this.#remove(`${this.namespace}/services/${local}`);
    const ids = [...this.machines.keys()];
    if (ids.length > 0) await cloud.terminateInstances(ids, AbortSignal.timeout(CALL_MS));
    const left = async (): Promise<readonly Json[]> => kube.items(`${this.namespace}/services`);
    const gone = async (): Promise<true | undefined> => ((await left()).length === 0 ? true : undefined);
    // What the controllers do not let go of, because they are to leave it alone, goes without them.
    const isGone = await eventually("", CLEAR_MS, gone).catch(() => false);
    if (isGone) return;
    for (const service of await left()) {
      const path = `${this.namespace}/services/${String(at(service, "metadata", "name"))}`;
      await kube.send("PATCH", path, { metadata: { finalizers: null } });
    }
    await eventually(`the Services of ${this.slug} to be gone`, WAIT_MS, gone);
  }

  /**
   * Nodes that wait for a pod CIDR are removed first: they would get the blocks that the removal of the others frees, and would release
   * them only in some runs.
   */
  async #removeNodes(): Promise<void> {
    const { kube } = this.world;
    const own = (await kube.items("/api/v1/nodes")).filter((node) =>
      this.nodes.has(String(at(node, "metadata", "name"))),
    );
    const waiting = own.filter((node) => at(node, "spec", "podCIDR") === undefined);
    const others = own.filter((node) => !waiting.includes(node));
    for (const node of waiting) await this.#remove(`/api/v1/nodes/${String(at(node, "metadata", "name"))}`);
    if (waiting.length > 0 && others.length > 0) await this.outlast(WATCH_MS);
    for (const node of others) await this.#remove(`/api/v1/nodes/${String(at(node, "metadata", "name"))}`);
  }

  async #remove(path: string): Promise<void> {
    await this.world.kube.send("DELETE", path);
    const finalizers = { "$deleteFromPrimitiveList/finalizers": ["example.com/held"] };
    await this.world.kube.send("PATCH", path, { metadata: finalizers });
  }

  /** What happened so far was only to get here: events, writes and calls count from now on. */
  async fromHere(): Promise<void> {
    await this.quiet();
    const events = (await this.world.events()).filter((event) => this.isAbout(event));
    for (const event of events) {
      const { namespace, name } = {
        namespace: at(event, "metadata", "namespace"),
        name: at(event, "metadata", "name"),
      };
      await this.world.kube.send("DELETE", `/api/v1/namespaces/${String(namespace)}/events/${String(name)}`);
    }
    this.fromMs = Date.now();
  }

  /** Whether an event is about an object of this scenario. */
  isAbout(event: Json): boolean {
    const name = String(at(event, "involvedObject", "name"));
    if (at(event, "involvedObject", "kind") === "Node") return this.nodes.has(name);
    return at(event, "involvedObject", "namespace") === this.slug;
  }
}

function readyCondition(status: string): Json {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const reason = status === "True" ? "KubeletReady" : "NodeStatusUnknown";
  return {
    type: "Ready",
    status,
    reason,
    message: "set by the suite",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
}

export function hasTaint(node: Json, key: string): boolean {
  return listOf(at(node, "spec", "taints")).some((taint) => taint["key"] === key);
}

export function addressesOf(node: Json): readonly Json[] {
  return listOf(at(node, "status", "addresses"));
}
