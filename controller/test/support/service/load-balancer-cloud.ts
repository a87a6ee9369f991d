import type {
  EnsureLoadBalancerInput,
  Listing,
  LoadBalancerRef,
  NodeSelection,
} from "../../../src/provider/model/client.ts";
import { contractError, type ProviderError } from "../../../src/provider/model/errors.ts";
import type {
  LoadBalancer,
  LoadBalancerCheck,
  LoadBalancerResult,
  LoadBalancerChange,
  LoadBalancerDeletion,
  ServiceRef,
} from "../../../src/provider/model/load-balancer.ts";
import type { AnnotationSchema, LoadBalancerCapabilities } from "../../../src/provider/model/info.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import { ingress } from "../builders.ts";
import { capabilities, idleProvider, info } from "../provider/provider-builders.ts";

export type LoadBalancerCall = "list" | "get" | "check" | "ensure" | "update" | "delete";

/** A load balancer as this cloud keeps it. */
export interface Kept {
  readonly id: string;
  readonly service: ServiceRef;
  specFingerprint: string;
  nodesFingerprint: string;
  nodes: readonly string[];
  /** Changes with every modification. */
  version: number;
  /** A modification by another client that no Ensure has reverted; also changes the version. */
  isTampered: boolean;
  /** Names of the nodes that are no targets. */
  unregistered?: readonly string[];
  /** Of the last change. */
  requestId?: string | undefined;
}

/** A cloud of load balancers in memory, and a provider of it that keeps to the contract. */
export class LoadBalancerCloud {
  /** By Service UID. */
  readonly kept = new Map<string, Kept>();
  readonly calls: string[] = [];
  /** undefined: the call goes through. "lost": it does, and its answer is lost. */
  fail: (call: LoadBalancerCall, uid: string) => ProviderError | "lost" | undefined = () => undefined;
  complete = true;
  /** Names of nodes whose instances are stopped. */
  readonly stopped = new Set<string>();
  /** What keeps a deletion from ending. */
  remaining: readonly string[] = [];
  /** Declared by the provider. */
  annotations: readonly AnnotationSchema[] = [];
  /** Lock key of each load balancer. */
  lockKey = "";
  /** Lock keys of checks. */
  readonly checkedLocks: string[] = [];
  /** Updates of the nodes return the fingerprint of before. */
  reportsPrevious = true;
  readonly #name: string;
  readonly #capabilities: Partial<LoadBalancerCapabilities>;
  #ids = 0;

  constructor(name = "acme", declared: Partial<LoadBalancerCapabilities> = {}) {
    this.#name = name;
    this.#capabilities = { list: { maxPageSize: 500, consistentSnapshot: true }, ...declared };
  }

  /** `call uid` of everything that may change it. */
  get changes(): readonly string[] {
    return this.calls.filter((call) => !/^(?:list|get|check)/.test(call));
  }

  /** Several of one cloud have names of their own. */
  provider(name = this.#name): Provider {
    const declared = info({
      scopeId: `scope-of-${this.#name}`,
      providerIdPrefixes: [`${name}://`],
      annotations: this.annotations,
      annotationPrefixes: this.annotations.length === 0 ? [] : [`${name}.example.com/`],
      capabilities: { loadBalancers: capabilities(this.#capabilities) },
    });
    const idle = idleProvider(name, declared);
    return {
      ...idle,
      client: {
        ...idle.client,
        listLoadBalancers: () => this.#serve("list", "", () => this.#list()),
        getLoadBalancer: (ref) => this.#serve("get", ref.service.uid, () => this.#get(ref)),
        checkLoadBalancer: (input, { lockKey = "" }) => {
          this.checkedLocks.push(lockKey);
          return this.#serve("check", input.service.uid, () => this.#check(input));
        },
        ensureLoadBalancer: (input, { requestId }) =>
          this.#serve("ensure", input.service.uid, () => this.#ensure(input, requestId)),
        updateLoadBalancerNodes: (input) => this.#serve("update", input.service.uid, () => this.#update(input)),
        deleteLoadBalancer: (ref) => this.#serve("delete", ref.service.uid, () => this.#delete(ref)),
      },
    };
  }

  async #serve<Answer>(call: LoadBalancerCall, uid: string, act: () => Answer): Promise<Answer> {
    this.calls.push(uid === "" ? call : `${call} ${uid}`);
    const fate = this.fail(call, uid);
    if (fate !== undefined && fate !== "lost") throw fate;
    const answer = act();
    if (fate === "lost") throw contractError("DEADLINE_PASSED", "no answer in time");
    return answer;
  }

  #list(): Listing<LoadBalancer> {
    const items = [...this.kept.values()].map((kept) => this.#show(kept));
    return { items, complete: this.complete, unreachable: [], resumeToken: "" };
  }

  #get({ service }: LoadBalancerRef): LoadBalancerResult {
    const kept = this.kept.get(service.uid);
    if (kept !== undefined) return { kind: "present", loadBalancer: this.#show(kept), diagnostics: [] };
    const witness = { provider: this.#name, scopeId: "", bootId: "", receivedAtMs: 0 };
    return { kind: "absent", basis: "lookupMiss", observeTimeMs: 0, strong: true, witness, diagnostics: [] };
  }

  #check({ service, specFingerprint, nodes }: EnsureLoadBalancerInput): LoadBalancerCheck {
    if (this.#capabilities.validateOnly === false) return { kind: "unsupported" };
    const kept = this.kept.get(service.uid);
    if (kept === undefined) return { kind: "missing" };
    const isSame = kept.specFingerprint === specFingerprint && String(kept.nodes) === String(namesOf(nodes));
    if (isSame && !kept.isTampered) return { kind: "matches", loadBalancer: this.#show(kept) };
    return { kind: "differs", differences: ["update rules of it", "update targets of it"] };
  }

  /** A repeated request gets the present state (proto/README.md RPC-1). */
  #ensure(input: EnsureLoadBalancerInput, requestId: string | undefined): LoadBalancerChange {
    const { service, specFingerprint, nodes, adoptLoadBalancerId } = input;
    const before = this.kept.get(service.uid) ?? this.#adopted(adoptLoadBalancerId);
    if (before !== undefined && requestId !== undefined && before.requestId === requestId) return this.#done(before);
    const id = before?.id ?? `${this.#name}-${++this.#ids}`;
    const desired = { specFingerprint, ...this.#targets(nodes) };
    const kept: Kept = {
      id,
      service,
      ...desired,
      version: (before?.version ?? 0) + 1,
      isTampered: false,
      requestId,
    };
    this.kept.set(service.uid, kept);
    return this.#done(kept);
  }

  #targets(nodes: NodeSelection): Pick<Kept, "nodes" | "nodesFingerprint" | "unregistered"> {
    const [names, isFit] = [namesOf(nodes), (name: string): boolean => !this.stopped.has(name)];
    const unregistered = names.filter((name) => !isFit(name));
    const nodesFingerprint = unregistered.length === 0 ? nodes.fingerprint : "";
    return { nodes: names.filter((name) => isFit(name)), nodesFingerprint, unregistered };
  }

  /** From its current provider. */
  #adopted(id: string | undefined): Kept | undefined {
    if (id === undefined) return undefined;
    const found = [...this.kept.values()].find((kept) => kept.id === id);
    if (found === undefined) throw contractError("FIELD_INVALID", `there is no load balancer ${id} to adopt`);
    this.kept.delete(found.service.uid);
    return found;
  }

  #update({ service, nodes }: LoadBalancerRef & { readonly nodes: NodeSelection }): LoadBalancerChange {
    const kept = this.kept.get(service.uid);
    if (kept === undefined) throw contractError("LOAD_BALANCER_NOT_FOUND", "there is none");
    const previousObservedFingerprint = this.reportsPrevious ? `v${kept.version}` : "";
    Object.assign(kept, this.#targets(nodes));
    kept.version++;
    return { ...this.#done(kept), loadBalancer: { ...this.#show(kept), previousObservedFingerprint } };
  }

  #delete({ service }: LoadBalancerRef): LoadBalancerDeletion {
    const { remaining } = this;
    if (remaining.length > 0) {
      const parts = { progressPercent: undefined, pollAfterMs: 5000, message: "another group refers to it" };
      const operation = { id: "op", stage: "waiting for references", ...parts };
      return { done: false, operation, remaining, diagnostics: [], plannedChanges: [] };
    }
    this.kept.delete(service.uid);
    return { done: true, operation: undefined, remaining: [], diagnostics: [], plannedChanges: [] };
  }

  #done(kept: Kept): LoadBalancerChange {
    return { loadBalancer: this.#show(kept), diagnostics: [], plannedChanges: [] };
  }

  #show({ id, service, specFingerprint, nodesFingerprint, version, unregistered = [] }: Kept): LoadBalancer {
    return {
      id,
      service,
      phase: "active",
      ingress: [ingress({ hostname: `${id}.example` })],
      specFingerprint,
      nodesFingerprint,
      observedFingerprint: `v${version}`,
      registeredNodes: undefined,
      conditions: [],
      operation: undefined,
      tags: {},
      lockKey: this.lockKey,
      unregisteredNodes: unregistered.map((name) => ({ name, reason: "InstanceStopped", message: "Start it." })),
      previousObservedFingerprint: "",
    };
  }
}

function namesOf({ source }: NodeSelection): readonly string[] {
  if (source.kind !== "inline") throw contractError("NODES_FINGERPRINT_MISMATCH", "send them whole");
  return source.nodes.map(({ name }) => name).toSorted();
}
