import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/own-writes.ts";
import { hasReason, type ProviderErrorCode } from "../../provider/model/errors.ts";
import type { InstanceAnswer } from "../../provider/model/instance.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { NodeOwner, ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { type NodeRecord, type NodeRecords, type Population, type ProviderMemory, subjectOf } from "./node-history.ts";
import type { Input } from "./plan.ts";
import { countAnswer } from "./guard/absences.ts";
import type { Brake } from "./guard/circuit-breaker.ts";
import { type Case, type GuardRules, youngForMs } from "./guard/guard.ts";
import { isAnnounced, isReady, isReleased, notReadySinceMs } from "./predicates.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly population: Population;
  readonly records: NodeRecords;
  readonly memory: ProviderMemory;
  readonly ownWrites: OwnWrites<Node>;
  readonly clock: Clock;
  readonly rules: GuardRules;
  readonly maxPercent: number;
  /** How old data may be that confirms nothing yet. */
  readonly maxDataAgeMs: number;
}

/** The Node and, unless it is Ready, what its cloud says of its machine and has said before. undefined: the Node is gone. */
export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Input | undefined> {
  const { nodes, ownWrites, records, memory, instances, providers, clock } = deps;
  const { key, signal } = context;
  const cached = nodes.get(key);
  if (cached === undefined) {
    records.vanished(key);
    ownWrites.forget(key);
    return undefined;
  }
  const before = ownWrites.latest(cached);
  if (isReady(before)) {
    // Its kubelet reports: better evidence than any answer that its machine is there, whatever its provider said.
    const said = records.get(before)?.absences;
    if (said !== undefined) memory.contradicted(said.witness.provider, clock.monotonicMs());
    records.forget(key);
    return { node: before, look: undefined, youngForMs: 0 };
  }
  // Whatever the cloud said of it, nothing would follow: a joining Node is not Ready at first, and costs no look.
  const youngMs = youngForMs(before.metadata.creationTimestampMs, deps.rules.minAgeMs, clock.nowMs());
  if (youngMs > 0) return { node: before, look: undefined, youngForMs: youngMs };
  const isConfirming = records.get(before)?.absences !== undefined;
  const maxDataAgeMs = isConfirming ? 0 : deps.maxDataAgeMs;
  const answer = await instances.get(before, { signal, maxDataAgeMs, priority: "low" });
  // The answer may have taken long: the Node may be Ready again, another one of that name, or gone.
  const cachedNow = nodes.get(key);
  const node = cachedNow === undefined ? undefined : ownWrites.latest(cachedNow);
  if (node?.metadata.uid !== before.metadata.uid) {
    records.vanished(key);
    return undefined;
  }
  const owner = providers.ownerOfNode(node);
  remember(deps, key, node, answer, owner);
  const tellsShutdown = owner.kind === "owned" && owner.info.capabilities.instances?.shutdownState === true;
  return { node, look: { answer, facts: caseOf(deps, node), tellsShutdown }, youngForMs: 0 };
}

/** What the guard decides by, as it is at this moment. undefined: no provider owns the Node. */
export function caseOf(deps: Omit<GatherDependencies, "instances">, node: Node): Case | undefined {
  const { providers, records, memory, clock, rules } = deps;
  const owner = providers.ownerOfNode(node);
  if (owner.kind !== "owned") return undefined;
  const { name, doubt } = owner.provider;
  const unheard = owner.unheard && `provider ${owner.unheard} has not said yet which provider IDs are its`;
  const { scopeId, bootId, capabilities } = owner.info;
  return {
    absences: records.get(node)?.absences,
    standing: {
      name,
      scopeId,
      bootId,
      doubt: doubt ?? unheard,
      existenceConsistencyDelayMs: capabilities.instances?.existenceConsistencyDelayMs ?? 0,
      failedAtMs: memory.failedAtMs(name),
      contradictedAtMs: memory.contradictedAtMs(name),
    },
    brake: { ...brakeOf(deps, name), exempt: isExempt(node) },
    rules,
    createdMs: node.metadata.creationTimestampMs,
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  };
}

/** How many of the provider's Nodes go the same way at this moment. */
export function brakeOf(
  { population, records, maxPercent }: Pick<GatherDependencies, "population" | "records" | "maxPercent">,
  provider: string,
): Brake {
  const { absent, deleted } = records.gone(provider);
  const { count, isUnknown } = deleted;
  return { gone: absent + count, nodes: population.of(provider) + count, isUnknown, maxPercent, exempt: false };
}

function remember(
  { records, memory, clock }: GatherDependencies,
  key: string,
  node: Node,
  answer: InstanceAnswer,
  owner: NodeOwner,
): void {
  const before = records.get(node);
  const monotonicMs = clock.monotonicMs();
  const provider = owner.kind === "owned" ? owner.provider.name : undefined;
  if (provider !== undefined) suspect(memory, provider, before, answer, monotonicMs);
  const absences = countAnswer(before?.absences, answer, {
    contradictedAtMs: provider === undefined ? undefined : memory.contradictedAtMs(provider),
    createdMs: node.metadata.creationTimestampMs,
    notReadySinceMs: notReadySinceMs(node),
    nowMs: clock.nowMs(),
    monotonicMs,
  });
  const picture = pictureOf(node, answer);
  const record: NodeRecord = {
    subject: subjectOf(node),
    provider,
    absences,
    // One that is going already was counted as deleted, or is somebody else's deed.
    isGone: absences !== undefined && !isExempt(node) && node.metadata.deletionTimestampMs === undefined,
    picture,
    looks: before?.picture === picture ? before.looks + 1 : 1,
    told: absences === undefined ? undefined : before?.told,
  };
  records.put(key, record);
}

/** Remembers what an answer says against whatever else its provider says. */
function suspect(
  memory: ProviderMemory,
  provider: string,
  before: NodeRecord | undefined,
  answer: InstanceAnswer,
  nowMs: number,
): void {
  if (castsDoubt(answer)) memory.failed(provider, nowMs);
  // A machine that was called absent is there: what else was called absent may be there, too, and is counted anew.
  if (answer.kind === "present" && before?.absences !== undefined) memory.contradicted(provider, nowMs);
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

function castsDoubt(answer: InstanceAnswer): boolean {
  return answer.kind === "unknown" && FAILURES.has(answer.error.code) && !hasReason(answer.error, "NOT_YET_CONSISTENT");
}

function isExempt(node: Node): boolean {
  return isReleased(node) || isAnnounced(node);
}

/** As long as this stays the same, looks become rarer. */
function pictureOf(node: Node, answer: InstanceAnswer): string {
  const said = answer.kind === "present" ? answer.instance.state : answer.kind;
  return [notReadySinceMs(node), node.spec.providerID, said, isExempt(node)].join(" ");
}
