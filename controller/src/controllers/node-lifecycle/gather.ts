import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { hasReason, type ProviderErrorCode } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import type { NodeRecords, NodeCounts, ProviderHistory } from "./node-history.ts";
import type { Observation } from "./plan.ts";
import type { CircuitBreaker } from "./guard/circuit-breaker.ts";
import { type GuardInput, type GuardRules, youngForMs } from "./guard/guard.ts";
import { isExempt, isReady } from "./predicates.ts";

/** What this step reads from, and nothing that it could write to. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly nodeCounts: NodeCounts;
  readonly records: Pick<NodeRecords, "get" | "gone" | "counts">;
  readonly memory: Pick<ProviderHistory, "failedAtMs" | "contradictedAtMs">;
  readonly ownWrites: Pick<OwnWrites<Node>, "latest">;
  readonly clock: Clock;
  readonly rules: GuardRules;
  readonly maxPercent: number;
  /** How old data may be that confirms nothing yet. */
  readonly maxDataAgeMs: number;
}

/** The Node and, unless it is Ready, what its cloud says of its machine and has said before. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Observation> {
  const { nodes, ownWrites, records, instances, providers, clock } = deps;
  const cached = nodes.get(key);
  if (cached === undefined) return { kind: "vanished" };
  const before = ownWrites.latest(cached);
  if (isReady(before)) return { kind: "ready", node: before, before: records.get(before) };
  // Whatever the cloud said of it, nothing would follow: a joining Node is not Ready at first, and costs no look.
  const youngMs = youngForMs(before.metadata.creationTimestampMs, deps.rules.minAgeMs, clock.nowMs());
  if (youngMs > 0) return { kind: "tooNew", node: before, youngForMs: youngMs };
  const isConfirming = records.get(before)?.absences !== undefined;
  const maxDataAgeMs = isConfirming ? 0 : deps.maxDataAgeMs;
  const answer = await instances.get(before, { signal, maxDataAgeMs, priority: "low" });
  // The answer may have taken long: the Node may be Ready again, another one of that name, or gone.
  const cachedNow = nodes.get(key);
  const node = cachedNow === undefined ? undefined : ownWrites.latest(cachedNow);
  if (node?.metadata.uid !== before.metadata.uid) return { kind: "vanished" };
  const owner = providers.ownerOfNode(node);
  return {
    kind: "answered",
    node,
    answer,
    makesUntrusted: makesUntrusted(answer),
    reportsShutdown: owner.kind === "owned" && owner.info.capabilities.instances?.shutdownState === true,
    before: records.get(node),
    facts: guardInputOf(deps, node),
    isCounted: owner.kind === "owned" && records.counts(key, owner.provider.name),
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  };
}

/** What the guard decides by, as it is at this moment. undefined: no provider owns the Node. */
export function guardInputOf(deps: Omit<GatherDependencies, "instances">, node: Node): GuardInput | undefined {
  const { providers, records, memory, clock, rules } = deps;
  const owner = providers.ownerOfNode(node);
  if (owner.kind !== "owned") return undefined;
  const { name, untrustedReason } = owner.provider;
  const unheard = owner.unheard && `provider ${owner.unheard} has not said yet which provider IDs are its`;
  const { scopeId, bootId, capabilities } = owner.info;
  return {
    absences: records.get(node)?.absences,
    provider: {
      name,
      scopeId,
      bootId,
      untrustedReason: untrustedReason ?? unheard,
      existenceConsistencyDelayMs: capabilities.instances?.existenceConsistencyDelayMs ?? 0,
      failedAtMs: memory.failedAtMs(name),
      contradictedAtMs: memory.contradictedAtMs(name),
    },
    brake: { ...circuitBreakerOf(deps, name), exempt: isExempt(node) },
    rules,
    createdMs: node.metadata.creationTimestampMs,
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  };
}

/** How many of the provider's Nodes go the same way at this moment. */
export function circuitBreakerOf(
  { nodeCounts, records, maxPercent }: Pick<GatherDependencies, "nodeCounts" | "records" | "maxPercent">,
  provider: string,
): CircuitBreaker {
  const { absent, deleted } = records.gone(provider);
  const { count, isUnknown } = deleted;
  return { gone: absent + count, nodes: nodeCounts.of(provider) + count, isUnknown, maxPercent, exempt: false };
}

/**
 * Without rights, credentials or a cloud, or with answers that break the contract, a provider may also be wrong in what it does say.
 * A machine that is merely too new for reads is no failure.
 */
const FAILURES: ReadonlySet<ProviderErrorCode> = new Set([
  "PERMISSION_DENIED",
  "INTERNAL",
  "UNAVAILABLE",
  "UNAUTHENTICATED",
]);

function makesUntrusted(answer: InstanceResult): boolean {
  return answer.kind === "unknown" && FAILURES.has(answer.error.code) && !hasReason(answer.error, "NOT_YET_CONSISTENT");
}
