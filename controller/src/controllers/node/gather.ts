import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ReadOptions } from "../../provider/model/client.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { forgetNode, type NodeCache } from "./node-cache.ts";
import type { Input, Namesake } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly cache: NodeCache;
}

/**
 * A first answer is often too early, and tries follow each other within milliseconds at first: those of one second share one
 * look at the cloud.
 */
const MAX_DATA_AGE_MS = 1000;

const UNASKED: Namesake = { kind: "unasked" };

/** The Node and what its cloud says of its machine: asked now while it waits or is due. undefined: the Node is gone. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Input | undefined> {
  const { cache } = deps;
  const before = read(deps, key);
  if (before === undefined) return undefined;
  if (isUninitialized(before)) {
    const answer = await deps.instances.get(before, { signal, maxDataAgeMs: MAX_DATA_AGE_MS });
    const namesake = answer.kind === "absent" ? await askNamesake(deps, before, answer, signal) : UNASKED;
    remember(cache, key, before, answer, namesake);
    return { kind: "waiting", node: before, answer, namesake };
  }
  const { refreshes, observedInstances, providerIds } = cache;
  if (refreshes.isDue(key) || observedInstances.isOutdated(before)) await refresh(deps, key, before, signal);
  // The answer may have taken long: the Node may have changed, wait for the cloud anew, or be gone.
  const node = read(deps, key);
  if (node === undefined) return undefined;
  const observed = observedInstances.get(node);
  // A Node of nobody here may share its ID with others for reasons of its own.
  return { kind: "initialized", node, observed, rivals: observed === undefined ? [] : providerIds.rivals(key) };
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
  const answer = await deps.instances.get(node, refreshOptions(deps, signal));
  const namesake = await namesakeOf(deps, node, answer, known, signal);
  remember(cache, key, node, answer, namesake);
}

/**
 * A machine that is called otherwise is asked about once; one that is absent each time, for another may be made under its name any day.
 */
async function namesakeOf(
  deps: GatherDependencies,
  node: Node,
  answer: InstanceResult,
  known: ReturnType<NodeCache["observedInstances"]["get"]>,
  signal: AbortSignal,
): Promise<Namesake> {
  if (node.spec.providerID === "") return UNASKED;
  if (answer.kind === "absent") return askNamesake(deps, node, answer, signal);
  if (answer.kind !== "present" || answer.instance.name === node.metadata.name) return UNASKED;
  const isKnown = known?.namesake.kind === "asked" && known.facts?.name === answer.instance.name;
  return isKnown ? known.namesake : askNamesake(deps, node, answer, signal);
}

/** Only of the provider that answered for the ID: clouds know nothing of each other's names. */
async function askNamesake(
  deps: GatherDependencies,
  node: Node,
  { witness }: Extract<InstanceResult, { kind: "present" | "absent" }>,
  signal: AbortSignal,
): Promise<Namesake> {
  if (node.spec.providerID === "" || !findsByName(deps, witness.provider)) return UNASKED;
  const byName: Node = { ...node, spec: { ...node.spec, providerID: "" } };
  const answer = await deps.instances.get(byName, { ...refreshOptions(deps, signal), at: witness.provider });
  switch (answer.kind) {
    case "present":
      return { kind: "asked", providerId: answer.instance.providerId };
    case "absent":
    case "notOwned":
      return { kind: "asked", providerId: undefined };
    case "unknown":
      return UNASKED;
    default:
      return answer satisfies never;
  }
}

function findsByName({ providers }: GatherDependencies, provider: string): boolean {
  const info = providers.providers.find(({ name }) => name === provider)?.info;
  return info?.capabilities.instances?.lookupByName === true;
}

function refreshOptions({ cache }: GatherDependencies, signal: AbortSignal): ReadOptions {
  return { signal, maxDataAgeMs: cache.refreshes.maxDataAgeMs, priority: "low" };
}

/** A tick that found no answer is not over: it comes again when the provider does, and what was known holds until then. */
function remember(
  { refreshes, observedInstances }: NodeCache,
  key: string,
  node: Node,
  answer: InstanceResult,
  namesake: Namesake,
): void {
  if (answer.kind === "unknown") return;
  refreshes.done(key);
  if (answer.kind === "notOwned") observedInstances.forget(key);
  else observedInstances.put(node, { facts: answer.kind === "present" ? answer.instance : undefined, namesake });
}
