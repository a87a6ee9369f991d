import {
  type CallContext,
  type ChangeContext,
  type IpFamily,
  type LoadBalancer,
  type LoadBalancerFeatures,
  type LoadBalancerHandlers,
  type LoadBalancerRef,
  type Pending,
  absent,
  pending,
  ProviderError,
  type DesiredLoadBalancer,
  type DesiredNodes,
  type UnregisteredNode,
} from "@cloudwire/provider-sdk";
import type { Config } from "../config/config.ts";
import type { DataPlane } from "../forwarding/data-plane.ts";
import type { KernelAddresses } from "../forwarding/kernel-addresses.ts";
import type { MachineSource } from "../inventory/inventory-files.ts";
import { type LoadBalancerRecord, withLoadBalancer } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { classes, readAnnotations } from "./annotations.ts";
import { addressesFor } from "./addresses-for.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";
import { toRecord } from "./to-record.ts";
import { targetsFor } from "./targets.ts";

export interface LoadBalancerDeps {
  readonly config: Config;
  readonly store: Store;
  readonly dataPlane: DataPlane;
  readonly source: MachineSource;
  readonly addresses: KernelAddresses;
  /** Ports on which other programs listen on all addresses of this machine. */
  readonly takenPorts: () => Promise<ReadonlySet<number>>;
}

export function loadBalancerHandlers(deps: LoadBalancerDeps): LoadBalancerHandlers {
  const { store, dataPlane } = deps;
  return {
    features: featuresOf(deps.config),
    get: async ({ key }) => {
      await store.refresh();
      const record = find(store, key);
      return record === undefined
        ? absent("LOOKUP_MISS", { stronglyConsistent: true })
        : toLoadBalancer(record, dataPlane);
    },
    list: async function* ({ cluster }: CallContext): AsyncGenerator<LoadBalancer> {
      await store.refresh();
      for (const record of store.state().loadBalancers) {
        if (record.cluster.id === cluster.id) yield toLoadBalancer(record, dataPlane);
      }
    },
    ensure: async (wanted, context) => ensure(deps, wanted, context),
    updateNodes: async (wanted, context) => updateNodes(deps, wanted, context),
    delete: async (ref, context) => deleteOne(deps, ref, context),
  };
}

function featuresOf({ pools }: Config): LoadBalancerFeatures {
  const ipFamilies = ([4, 6] as const)
    .filter((family) => pools.some(({ ranges }) => ranges.some((range) => range.family === family)))
    .map((family): IpFamily => `IPv${family}`);
  return {
    protocols: ["TCP", "UDP"],
    mixedProtocols: true,
    ipFamilies,
    dualStack: ipFamilies.length === 2,
    sourceRanges: true,
    requestedIp: true,
    sessionAffinity: true,
    externalTrafficPolicyLocal: true,
    deletionProtection: true,
    // Packets reach nodes with the node's address and node port as destination.
    ipModes: ["Proxy"],
    classes,
    maxConcurrentChanges: 50,
    validateOnly: true,
    list: { maxPageSize: 1000, consistentSnapshot: true },
  };
}

function find(store: Store, key: string): LoadBalancerRecord | undefined {
  return store.state().loadBalancers.find((record) => record.key === key);
}

async function ensure(
  deps: LoadBalancerDeps,
  wanted: DesiredLoadBalancer,
  context: ChangeContext,
): Promise<LoadBalancer | undefined> {
  const { store, dataPlane, source, config } = deps;
  const settings = readAnnotations(wanted.class, wanted.annotations, wanted.ports, wanted.externalTrafficPolicy);
  const isProxied = settings.forwarder === "haproxy";
  const [machines, onInterfaces, takenPorts] = await Promise.all([
    source.read(),
    deps.addresses.list(),
    isProxied ? deps.takenPorts() : noPorts,
    store.refresh(),
  ]);
  // No await from here to the update, so that no other call takes the same address.
  const existing = find(store, wanted.key);
  const { targets, unregisteredNodes } = targetsFor(wanted.nodes, machines, existing?.targets);
  if (existing?.isDeleting) {
    throw new ProviderError("NOT_READY", `load balancer ${wanted.key} is still being deleted`, { retryAfterMs: 1_000 });
  }
  checkPorts(wanted, takenPorts);
  const addresses = addressesFor(config, store.state(), onInterfaces, wanted, settings.pool, existing);
  const nodesFingerprint = nodesInForce(wanted, unregisteredNodes);
  const record = toRecord({ ...wanted, nodesFingerprint }, settings, targets, addresses, existing);
  warn(wanted, record, context);
  if (context.validateOnly) {
    const summary = `${settings.forwarder}, ${addresses.map(({ address }) => address).join(" and ")}, ${targets.length} targets`;
    if (!isEqual(existing, record)) {
      context.addPlannedChange({
        action: existing ? "update" : "create",
        resourceType: "load balancer",
        resourceId: wanted.key,
        summary,
      });
    }
    return existing && toLoadBalancer(existing, dataPlane);
  }
  if (!isEqual(existing, record)) await store.update((state) => withLoadBalancer(state, record));
  context.recordCloudCall({ mutation: true });
  return { ...(await converged(deps, wanted.key)), unregisteredNodes };
}

/** Nodes that are not all targets are not in force, so that the change is repeated. */
function nodesInForce({ nodesFingerprint }: DesiredNodes, unregisteredNodes: readonly UnregisteredNode[]): string {
  return unregisteredNodes.length === 0 ? nodesFingerprint : "";
}

const noPorts: ReadonlySet<number> = new Set();

/** One port that HAProxy cannot have would keep it from taking any change. */
function checkPorts({ ports }: DesiredLoadBalancer, taken: ReadonlySet<number>): void {
  const port = ports.find((one) => taken.has(one.port))?.port;
  if (port === undefined) return;
  const message = `another program of the gateway listens on port ${port} of all addresses: bind it to one address, or use nftables`;
  throw new ProviderError("CLOUD_SETUP_INVALID", message);
}

async function updateNodes(
  deps: LoadBalancerDeps,
  wanted: LoadBalancerRef & DesiredNodes,
  context: ChangeContext,
): Promise<LoadBalancer> {
  const { store, dataPlane, source } = deps;
  const [machines] = await Promise.all([source.read(), store.refresh()]);
  const existing = find(store, wanted.key);
  if (existing === undefined || existing.isDeleting) {
    throw new ProviderError("LOAD_BALANCER_NOT_FOUND", `there is no load balancer ${wanted.key}`);
  }
  if (existing.nodesFingerprint === wanted.nodesFingerprint && dataPlane.problemOf(existing) === undefined) {
    return toLoadBalancer(existing, dataPlane);
  }
  const { targets, unregisteredNodes } = targetsFor(wanted.nodes, machines, existing.targets);
  if (context.validateOnly) {
    const summary = `${targets.length} targets`;
    context.addPlannedChange({ action: "update", resourceType: "load balancer", resourceId: wanted.key, summary });
    return toLoadBalancer(existing, dataPlane);
  }
  const nodesFingerprint = nodesInForce(wanted, unregisteredNodes);
  await store.update((state) => withLoadBalancer(state, { ...existing, targets: [...targets], nodesFingerprint }));
  context.recordCloudCall({ mutation: true });
  return { ...(await converged(deps, wanted.key)), unregisteredNodes };
}

async function deleteOne(
  { store, dataPlane }: LoadBalancerDeps,
  { key, cluster }: LoadBalancerRef,
  context: ChangeContext,
): Promise<Pending | undefined> {
  await store.refresh();
  const existing = find(store, key);
  if (existing === undefined) return undefined;
  if (existing.cluster.id !== cluster.id) {
    const metadata = { owner_cluster_id: existing.cluster.id, id: key };
    throw new ProviderError("OWNED_BY_ANOTHER_CLUSTER", `load balancer ${key} belongs to another cluster`, {
      metadata,
    });
  }
  if (existing.isProtected) {
    const message = `load balancer ${key} of ${existing.service.namespace}/${existing.service.name} is protected from deletion: remove the protection first`;
    throw new ProviderError("DELETION_PROTECTED", message);
  }
  if (context.validateOnly) {
    context.addPlannedChange({ action: "delete", resourceType: "load balancer", resourceId: key });
    return undefined;
  }
  await store.update((state) => withLoadBalancer(state, { ...existing, isDeleting: true }));
  context.recordCloudCall({ mutation: true });
  await dataPlane.converge();
  const left = find(store, key);
  if (left === undefined) return undefined;
  const message = dataPlane.problemOf(left) ?? "its parts are being removed";
  return pending(key, {
    pollAfterMs: 2_000,
    message: shown(message),
    remaining: left.addresses.map(({ address }) => `address ${address}`),
  });
}

/** The load balancer once everything is as its record says. */
async function converged({ store, dataPlane }: LoadBalancerDeps, key: string): Promise<LoadBalancer> {
  await dataPlane.converge();
  const record = find(store, key);
  if (record === undefined)
    throw new ProviderError("OPERATION_IN_PROGRESS", `load balancer ${key} was deleted in the meantime`);
  const problem = dataPlane.problemOf(record);
  if (problem === undefined) return toLoadBalancer(record, dataPlane);
  throw new ProviderError("CLOUD_UNAVAILABLE", `load balancer ${key} is stored, but not applied: ${shown(problem)}`);
}

/** [ERR-4]: callers see no paths of this machine; the log has them. */
function shown(problem: string): string {
  return problem.replaceAll(/\/[\w./-]+\/([\w.-]+)/g, "$1").slice(0, 600);
}

/** Without the revision, which only orders changes. */
function isEqual(existing: LoadBalancerRecord | undefined, record: Omit<LoadBalancerRecord, "revision">): boolean {
  return (
    existing !== undefined && JSON.stringify(existing) === JSON.stringify({ ...record, revision: existing.revision })
  );
}

/** The parts of the spec that have no or limited effect. */
function warn(wanted: DesiredLoadBalancer, record: Omit<LoadBalancerRecord, "revision">, context: ChangeContext): void {
  if (wanted.externalTrafficPolicy === "Local" && record.forwarder === "haproxy" && !record.sendsProxyHeader) {
    const summary =
      "HAProxy forwards only to nodes with local endpoints, but they see this machine's address: use nftables to keep the client's";
    context.addDiagnostic({ reason: "ClientAddressHidden", summary, field: "spec.external_traffic_policy" });
  }
  if (wanted.sessionAffinity !== undefined) {
    const summary = "Session affinity is by client address while the nodes stay the same; the timeout is ignored";
    context.addDiagnostic({ severity: "info", reason: "AffinityByAddress", summary, field: "spec.session_affinity" });
  }
}
