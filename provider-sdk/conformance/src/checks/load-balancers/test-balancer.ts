import { createHash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type EnsureLoadBalancerResponse,
  type LoadBalancer,
  LoadBalancerPhase,
  loadBalancerPhaseToJSON,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { CheckContext } from "../../suite/check.ts";
import type { Fixtures } from "../../suite/fixtures.ts";
import { expectOk, fail, show } from "../../suite/expect.ts";
import type { Called, CallOptions } from "../../endpoint/caller.ts";
import { durationMs, pauseMs } from "../../contract/duration.ts";
import { type Method, methods } from "../../contract/methods.ts";

type PartialOf<M> = M extends Method<infer Partial, unknown, unknown> ? Partial : never;
type EnsureRequest = NonNullable<PartialOf<typeof methods.ensureLoadBalancer>>;
type Nodes = NonNullable<EnsureRequest["nodes"]>;
type Change = NonNullable<EnsureRequest["change"]>;
type Spec = NonNullable<EnsureRequest["spec"]>;

type DeletionHints = Pick<
  NonNullable<PartialOf<typeof methods.deleteLoadBalancer>>,
  "loadBalancerId" | "class" | "annotations" | "operationId"
>;

/** The spec of a load balancer. */
export interface DesiredBalancer {
  /** Default: 80. */
  readonly ports?: readonly number[];
  /** Default: none, or as the configuration says. */
  readonly nodes?: Nodes;
  readonly change?: Change;
  /** The rest of its spec. */
  readonly spec?: Spec;
  readonly more?: Pick<EnsureRequest, "operationId" | "adopt">;
}

/** How long a load balancer may take to serve, and to be gone. */
const changeMs = ({ loadBalancer }: Fixtures): number => loadBalancer?.timeoutMs ?? 600_000;

/** In how long a check of one has to end, from its making until it is gone. */
export const lifeMs = (fixtures: Fixtures): number => 2 * changeMs(fixtures) + 100_000;

const patienceMs = ({ fixtures, slowFactor }: CheckContext): number => changeMs(fixtures) * slowFactor;

/** Where none is given. */
const pollMs = 1_000;

const digest = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item)))
    .digest("hex")
    .slice(0, 32);

/** The machine of the configuration as target. */
export const fixtureNode = ({ fixtures }: CheckContext) => ({
  name: fixtures.instance?.nodeName ?? "",
  providerId: fixtures.instance?.providerId ?? "",
  zone: fixtures.instance?.zone,
  addresses: (fixtures.instance?.addresses ?? []).map((address) => ({ type: NodeAddressType.INTERNAL_IP, address })),
});

/** The first of many ids. */
const some = (ids: ReadonlySet<string>): string => `${[...ids].slice(0, 3).join(", ")}${ids.size > 3 ? ", …" : ""}`;

type Node = ReturnType<typeof fixtureNode>;

/** A fingerprint as a controller makes it. */
export const fingerprintOf = (nodes: readonly Node[]): string => digest(nodes.map(({ providerId }) => providerId));

/** Nodes spelled out. */
export const inline = (...nodes: readonly Node[]): Nodes => ({
  fingerprint: fingerprintOf(nodes),
  count: nodes.length,
  source: { $case: "inline", value: { nodes: [...nodes] } },
});

/** Refusals that say: not now. */
const busyReasons: ReadonlySet<string> = new Set([
  "OPERATION_IN_PROGRESS",
  "NOT_READY",
  "RATE_LIMITED",
  "TOO_MANY_CALLS",
]);

const isBusy = (called: Called<unknown>): boolean =>
  called.kind === "error" && busyReasons.has(called.error.infos[0]?.reason ?? "");

/** A load balancer of a Service that no cluster has, made for one check. */
export class TestBalancer {
  readonly #context: CheckContext;
  readonly callContext: CheckContext["callContext"];
  readonly service: { readonly namespace: string; readonly name: string; readonly uid: string };

  /** With another cluster's id, it is that cluster's, for a Service of the same uid if that is given. */
  constructor(context: CheckContext, clusterSuffix = "", uid: string = randomUUID()) {
    const { cluster, scopeId } = context.callContext;
    this.#context = context;
    this.callContext = { cluster: { ...cluster, id: cluster.id + clusterSuffix }, scopeId };
    this.service = { namespace: "conformance", name: `test-${uid.slice(0, 8)}`, uid };
  }

  /** The request for a spec. */
  request({
    ports = [80],
    nodes = this.nodes,
    change = {},
    spec: asked = {},
    more = {},
  }: DesiredBalancer = {}): EnsureRequest {
    const { loadBalancer } = this.#context.fixtures;
    const spec = {
      ports: ports.map((port) => ({
        name: `p-${port}`,
        protocol: Protocol.TCP,
        port,
        nodePort: 30_000 + (port % 2_000),
      })),
      class: loadBalancer?.class,
      annotations: { ...loadBalancer?.annotations },
      nameHint: `conformance-${this.service.uid.slice(0, 8)}`,
      ...asked,
    };
    return {
      context: this.callContext,
      change: { requestId: randomUUID(), trigger: "conformance", ...change },
      service: this.service,
      spec,
      specFingerprint: digest({ ...spec, ports: asked.ports ?? ports.toSorted((one, other) => one - other) }),
      nodes,
      ...more,
    };
  }

  ensure(desired: DesiredBalancer = {}, options: CallOptions = {}): Promise<Called<EnsureLoadBalancerResponse>> {
    return this.#context.caller.call(methods.ensureLoadBalancer, this.request(desired), options);
  }

  /** Ensures until nothing is left to do; `seen` gets each response. */
  async converge(
    desired: DesiredBalancer = {},
    seen?: (called: Called<EnsureLoadBalancerResponse>) => void,
  ): Promise<LoadBalancer> {
    return this.#converged("EnsureLoadBalancer", async () => {
      const called = await this.ensure(desired);
      seen?.(called);
      return called;
    });
  }

  /** Changes the nodes until nothing is left to do. */
  convergeNodes(nodes: Nodes): Promise<LoadBalancer> {
    return this.#converged("UpdateLoadBalancerNodes", () => this.updateNodes(nodes));
  }

  async #converged(
    name: string,
    ask: () => Promise<Called<{ readonly loadBalancer?: LoadBalancer | undefined }>>,
  ): Promise<LoadBalancer> {
    const endMs = performance.now() + patienceMs(this.#context);
    const ids = new Set<string>();
    for (;;) {
      // Each question is a change of its own: one that is repeated may get the earlier answer.
      const called = await ask();
      if (isBusy(called)) {
        await this.#pause(pollMs, endMs);
        continue;
      }
      const { loadBalancer } = expectOk(called, `${name} fails`).response;
      if (loadBalancer?.phase === LoadBalancerPhase.ACTIVE && loadBalancer.operation === undefined) return loadBalancer;
      const { exchange } = called;
      if (loadBalancer === undefined) return fail({ message: "the answer has no load balancer", exchange });
      ids.add(loadBalancer.id);
      if (performance.now() >= endMs)
        return fail({
          message: `it is not ACTIVE within ${patienceMs(this.#context)} ms`,
          expected: "phase ACTIVE and no operation",
          got: [
            show({ phase: loadBalancerPhaseToJSON(loadBalancer.phase), operation: loadBalancer.operation }),
            ...(ids.size > 1
              ? [`${name} makes another one each time, and has to go on with the first: ${some(ids)}`]
              : []),
          ].join("\n"),
          exchange,
        });
      await this.#pause(durationMs(loadBalancer.operation?.pollAfter), endMs);
    }
  }

  /** The nodes where a check does not say which. */
  get nodes(): Nodes {
    return this.#context.fixtures.loadBalancer?.needsNodes === true ? inline(fixtureNode(this.#context)) : inline();
  }

  /** What a controller sends with each call, for providers that cannot find a load balancer without. */
  get #hints(): { readonly class?: string; readonly annotations?: Record<string, string> } {
    const { class: name, annotations } = this.#context.fixtures.loadBalancer ?? {};
    return {
      ...(name !== undefined && { class: name }),
      ...(annotations !== undefined && { annotations: { ...annotations } }),
    };
  }

  /** As GetLoadBalancer has it; undefined: absent. */
  async get(): Promise<LoadBalancer | undefined> {
    const request = { context: this.callContext, service: this.service, ...this.#hints };
    const called = await this.#context.caller.call(methods.getLoadBalancer, request);
    const { outcome } = expectOk(called, "GetLoadBalancer fails").response;
    if (outcome === undefined) fail({ message: "GetLoadBalancer says nothing", exchange: called.exchange });
    return outcome?.$case === "loadBalancer" ? outcome.value : undefined;
  }

  /** Those of this Service in the list of its cluster. */
  async listed(): Promise<readonly LoadBalancer[]> {
    const found: LoadBalancer[] = [];
    let pageToken = "";
    do {
      const called = await this.#context.caller.call(methods.listLoadBalancers, {
        context: this.callContext,
        pageSize: 0,
        pageToken,
      });
      const { loadBalancers, nextPageToken } = expectOk(called, "ListLoadBalancers fails").response;
      found.push(...loadBalancers.filter(({ service }) => service?.uid === this.service.uid));
      pageToken = nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  updateNodes(nodes: Nodes, change: Change = {}) {
    return this.#context.caller.call(methods.updateLoadBalancerNodes, {
      context: this.callContext,
      change: { requestId: randomUUID(), trigger: "conformance", ...change },
      service: this.service,
      ...this.#hints,
      nodes,
    });
  }

  deleteOnce(change: Change = {}, hints: DeletionHints = {}) {
    return this.#context.caller.call(methods.deleteLoadBalancer, {
      context: this.callContext,
      change: { requestId: randomUUID(), trigger: "conformance", ...change },
      service: this.service,
      ...this.#hints,
      ...hints,
    });
  }

  /** Deletes until it is done. */
  async remove(): Promise<void> {
    const endMs = performance.now() + patienceMs(this.#context);
    for (;;) {
      const called = await this.deleteOnce();
      if (isBusy(called)) {
        await this.#pause(pollMs, endMs);
        continue;
      }
      const { done, operation, remaining } = expectOk(called, "DeleteLoadBalancer fails").response;
      if (done) return;
      if (performance.now() >= endMs)
        fail({ message: "the deletion is not done", got: `left: ${show(remaining)}`, exchange: called.exchange });
      await this.#pause(durationMs(operation?.pollAfter), endMs);
    }
  }

  /** Throws when time is up. */
  async #pause(ms: number | undefined, endMs: number): Promise<void> {
    if (performance.now() >= endMs) fail({ message: `the provider is busy for ${patienceMs(this.#context)} ms` });
    const most = 60_000 * Math.min(1, this.#context.slowFactor);
    await wait(Math.min(pauseMs(ms, pollMs), most), undefined, { signal: this.#context.signal });
  }
}

/** A load balancer for a check, and its end. */
export const withBalancer = async <Value>(
  context: CheckContext,
  use: (balancer: TestBalancer) => Promise<Value>,
): Promise<Value> => {
  const balancer = new TestBalancer(context);
  try {
    return await use(balancer);
  } finally {
    // What this does not get rid of, the end of the run does: it has a note of it.
    await balancer.remove().catch(() => undefined);
  }
};
