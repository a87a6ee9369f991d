import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ReadOptions } from "../../provider/model/client.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { forgetNode, type NodeCache } from "./node-cache.ts";
import type { Input, InstanceByName, ObservedInstance } from "./plan.ts";
import { hasNoAddress, needsAddress } from "./plan/addresses.ts";
import { isUninitialized } from "./predicates.ts";

export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly cache: NodeCache;
}

/** The first lookup is often too early, and the first retries are milliseconds apart: those within a second share one lookup. */
const MAX_DATA_AGE_MS = 1000;

const NOT_QUERIED: InstanceByName = { kind: "notQueried" };

/** Reads the Node and its instance. Queries the cloud if the Node waits for initialization or is due. undefined: the Node is deleted. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Input | undefined> {
  const { cache } = deps;
  const before = read(deps, key);
  if (before === undefined) return undefined;
  if (isUninitialized(before)) {
    const result = await deps.instances.get(before, { signal, maxDataAgeMs: MAX_DATA_AGE_MS });
    const byName = isMissing(result) ? await queryByName(deps, before, result, signal) : NOT_QUERIED;
    remember(cache, key, before, result, byName);
    return {
      kind: "waiting",
      node: before,
      result,
      byName,
      noAddressForMs: noAddressForMs(cache, key, before, result),
    };
  }
  const { refreshes, observedInstances, providerIds } = cache;
  if (refreshes.isDue(key) || observedInstances.isOutdated(before)) await refresh(deps, key, before, signal);
  // The lookup may have been slow: the Node may have changed, be uninitialized again, or be deleted.
  const node = read(deps, key);
  if (node === undefined) return undefined;
  const observed = observedInstances.get(node);
  // Without an owner here, Nodes may share an ID on purpose.
  return { kind: "initialized", node, observed, duplicates: observed === undefined ? [] : providerIds.duplicates(key) };
}

function noAddressForMs({ addressWaits }: NodeCache, key: string, node: Node, result: InstanceResult): number {
  if (result.kind === "present" && needsAddress(node, result.instance.addresses)) return addressWaits.waitedMs(node);
  // An unknown result neither ends nor restarts the wait.
  if (result.kind !== "unknown") addressWaits.forget(key);
  return 0;
}

function read({ nodes, cache }: GatherDependencies, key: string): Node | undefined {
  const cached = nodes.get(key);
  if (cached === undefined) {
    forgetNode(cache, key);
    return undefined;
  }
  const node = cache.ownWrites.latest(cached);
  cache.providerIds.note(key, node.spec.providerID);
  return node;
}

async function refresh(deps: GatherDependencies, key: string, node: Node, signal: AbortSignal): Promise<void> {
  const { cache } = deps;
  const known = cache.observedInstances.get(node);
  const result = await deps.instances.get(node, refreshOptions(deps, signal));
  remember(cache, key, node, result, await instanceByName(deps, node, result, known, signal));
}

/**
 * Queries once for an instance whose name differs from the Node's. Queries each time for an absent one, because another instance may be
 * created under its name.
 */
async function instanceByName(
  deps: GatherDependencies,
  node: Node,
  result: InstanceResult,
  known: ObservedInstance | undefined,
  signal: AbortSignal,
): Promise<InstanceByName> {
  if (node.spec.providerID === "") return NOT_QUERIED;
  if (isMissing(result)) return queryByName(deps, node, result, signal);
  if (result.kind !== "present" || result.instance.name === node.metadata.name) return NOT_QUERIED;
  const isKnown = known?.byName.kind === "queried" && known.instance?.name === result.instance.name;
  return isKnown ? known.byName : queryByName(deps, node, result, signal);
}

/** Queries only the provider that answered for the ID, because clouds do not know each other's names. */
async function queryByName(
  deps: GatherDependencies,
  node: Node,
  { witness }: Extract<InstanceResult, { kind: "present" | "absent" | "noMatch" }>,
  signal: AbortSignal,
): Promise<InstanceByName> {
  if (node.spec.providerID === "" || !findsByName(deps, witness.provider)) return NOT_QUERIED;
  const byName: Node = { ...node, spec: { ...node.spec, providerID: "" } };
  const result = await deps.instances.get(byName, { ...refreshOptions(deps, signal), at: witness.provider });
  switch (result.kind) {
    case "present":
      return { kind: "queried", providerId: result.instance.providerId };
    case "absent":
    case "noMatch":
    case "notOwned":
      return { kind: "queried", providerId: undefined };
    case "unknown":
      return NOT_QUERIED;
  }
  return result satisfies never;
}

function isMissing(result: InstanceResult): result is Extract<InstanceResult, { kind: "absent" | "noMatch" }> {
  return result.kind === "absent" || result.kind === "noMatch";
}

function findsByName({ providers }: GatherDependencies, provider: string): boolean {
  const info = providers.providers.find(({ name }) => name === provider)?.info;
  return info?.capabilities.instances?.lookupByName === true;
}

function refreshOptions({ cache }: GatherDependencies, signal: AbortSignal): ReadOptions {
  return { signal, maxDataAgeMs: cache.refreshes.maxDataAgeMs, priority: "low" };
}

/** After an unknown result, and for an instance without address, the tick is not done: the Node is read again when its provider is ready, and keeps its cached instance. */
function remember(
  { refreshes, observedInstances }: NodeCache,
  key: string,
  node: Node,
  result: InstanceResult,
  byName: InstanceByName,
): void {
  if (result.kind === "unknown") return;
  if (result.kind !== "present" || !hasNoAddress(node, result.instance.addresses)) refreshes.done(key);
  if (result.kind === "notOwned") observedInstances.forget(key);
  else observedInstances.put(node, { instance: result.kind === "present" ? result.instance : undefined, byName });
}
