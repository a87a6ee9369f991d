import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { hasReason, type ProviderErrorCode } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { Answered, NodeOwner, ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import type { NodeCounts, NodeRecords, ProviderHistory } from "./node-history.ts";
import type { Observation } from "./plan.ts";
import type { CircuitBreaker } from "./guard/circuit-breaker.ts";
import { type GuardInput, type GuardRules, tooNewForMs } from "./guard/guard.ts";
import { isExempt, isProtected, isReady } from "./predicates.ts";

export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly nodeCounts: NodeCounts;
  readonly records: Pick<NodeRecords, "get" | "gone" | "counts">;
  readonly providerHistory: Pick<ProviderHistory, "failedAtMs" | "contradictedAtMs">;
  readonly ownWrites: Pick<OwnWrites<Node>, "latest">;
  readonly clock: Clock;
  readonly rules: GuardRules;
  readonly maxPercent: number;
  /** Allowed age of data that confirms nothing yet. */
  readonly maxDataAgeMs: number;
}

/** Reads the Node and, unless it is Ready, its instance. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Observation> {
  const { nodes, ownWrites, records, instances, providers, clock } = deps;
  const cached = nodes.get(key);
  if (cached === undefined) return { kind: "vanished" };
  const before = ownWrites.latest(cached);
  if (isReady(before)) return { kind: "ready", node: before, before: records.get(before) };
  // A new Node is never deleted, so that its lookup would be useless.
  const tooNewMs = tooNewForMs(before.metadata.creationTimestampMs, deps.rules.minAgeMs, clock.nowMs());
  if (tooNewMs > 0) return { kind: "tooNew", node: before, tooNewForMs: tooNewMs };
  const isConfirming = records.get(before)?.absences !== undefined;
  const maxDataAgeMs = isConfirming ? 0 : deps.maxDataAgeMs;
  const result = await instances.get(before, { signal, maxDataAgeMs, priority: "low" });
  // The lookup may have been slow: the Node may be Ready again, recreated, or deleted.
  const cachedNow = nodes.get(key);
  const node = cachedNow === undefined ? undefined : ownWrites.latest(cachedNow);
  if (node?.metadata.uid !== before.metadata.uid) return { kind: "vanished" };
  const owner = answeringOwner(providers.ownerOfNode(node), "witness" in result ? result.witness.provider : undefined);
  return {
    kind: "answered",
    node,
    result,
    makesUntrusted: makesUntrusted(result),
    reportsShutdown: owner?.info.capabilities.instances?.shutdownState === true,
    before: records.get(node),
    facts: guardInputOf(deps, node, owner?.provider.name),
    isCounted: owner !== undefined && records.counts(key, owner.provider.name),
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  };
}

/** Of several providers that could own a Node without provider ID, the one whose result decided. */
function answeringOwner(
  owner: NodeOwner,
  witness: string | undefined,
): (Answered & { readonly unheard?: string }) | undefined {
  if (owner.kind === "owned") return owner;
  if (owner.kind === "unowned") return undefined;
  return owner.claimants?.find(({ provider }) => provider.name === witness);
}

/** @param witness the provider whose result decided */
export function guardInputOf(
  deps: Omit<GatherDependencies, "instances">,
  node: Node,
  witness: string | undefined,
): GuardInput | undefined {
  const { providers, records, providerHistory, clock, rules } = deps;
  const owner = answeringOwner(providers.ownerOfNode(node), witness);
  if (owner === undefined) return undefined;
  const { name, untrustedReason } = owner.provider;
  const unheard = owner.unheard && `provider ${owner.unheard} has not reported its provider ID prefixes yet`;
  const { scopeId, bootId, capabilities } = owner.info;
  return {
    absences: records.get(node)?.absences,
    provider: {
      name,
      scopeId,
      bootId,
      untrustedReason: untrustedReason ?? unheard,
      existenceConsistencyDelayMs: capabilities.instances?.existenceConsistencyDelayMs ?? 0,
      failedAtMs: providerHistory.failedAtMs(name),
      contradictedAtMs: providerHistory.contradictedAtMs(name),
    },
    circuitBreaker: { ...circuitBreakerOf(deps, name), exempt: isExempt(node) },
    isProtected: isProtected(node),
    rules,
    createdMs: node.metadata.creationTimestampMs,
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  };
}

export function circuitBreakerOf(
  { nodeCounts, records, maxPercent }: Pick<GatherDependencies, "nodeCounts" | "records" | "maxPercent">,
  provider: string,
): CircuitBreaker {
  const { absent, deleted } = records.gone(provider);
  const { count, isUnknown } = deleted;
  return { gone: absent + count, nodes: nodeCounts.of(provider) + count, isUnknown, maxPercent, exempt: false };
}

/** After one of these a provider's other results may be wrong too. */
const FAILURES: ReadonlySet<ProviderErrorCode> = new Set([
  "PERMISSION_DENIED",
  "INTERNAL",
  "UNAVAILABLE",
  "UNAUTHENTICATED",
]);

function makesUntrusted(result: InstanceResult): boolean {
  return result.kind === "unknown" && FAILURES.has(result.error.code) && !hasReason(result.error, "NOT_YET_CONSISTENT");
}
