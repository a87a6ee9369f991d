import { keyOf } from "../../api/meta.ts";
import type { Service } from "../../api/service.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Provider } from "../../provider/model/provider.ts";
import { type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Random } from "../../util/clock.ts";
import type { ApplyDependencies } from "./apply/status.ts";
import type { LoadBalancerLister } from "./gather/load-balancer-lister.ts";
import { isSamePlace, isSuccessor } from "./gather/owner.ts";
import { isSuspect } from "./plan/drift.ts";
import { sweepKey, sweptProvider } from "./predicates.ts";
import { type Active, acknowledgedOf, presentOf, type ServiceRecord } from "./record/record.ts";
import type { Records } from "./record/records.ts";

interface DriftSweepDependencies
  extends Pick<
    ApplyDependencies,
    "services" | "providers" | "records" | "metrics" | "clock" | "random" | "pace" | "checks"
  > {
  readonly lister: Pick<LoadBalancerLister, "list">;
}

/** Until the next attempt when the provider is unavailable. */
const UNAVAILABLE_MS = 60_000;

/** Until the next check of the period while sweeps are off. */
const OFF_MS = 60_000;

/** The reads that one sweep requests are spread over this time. */
const SPREAD_MS = 10_000;

/** Sweeps each provider once a period, and reconciles Services that a sweep wakes. */
export function driftSource(deps: Omit<DriftSweepDependencies, "services" | "lister">): Source {
  const { providers, records, random, pace } = deps;
  return {
    name: "drift",
    ready: () => Promise.resolve(),
    start: (queue) => {
      const low = { priority: "low" } as const;
      const { periodMs } = pace;
      const delayMs = (): number => (periodMs === 0 ? OFF_MS : jittered(periodMs, random));
      for (const { name } of providers.providers) queue.addAfter(sweepKey(name), delayMs(), low);
      return records.onWake((key, afterMs) => queue.addAfter(key, afterMs, low));
    },
  };
}

type Known = readonly [key: string, state: Active];

/** Compares the load balancers of a provider with what it acknowledged: by one list, or by a read of each, spread over the period. */
export class DriftSweep {
  readonly #deps: DriftSweepDependencies;
  /** By provider: IDs without a Service in its last list. An orphan is reported when it is seen twice. */
  readonly #orphans = new Map<string, ReadonlySet<string>>();

  constructor(dependencies: DriftSweepDependencies) {
    this.#deps = dependencies;
  }

  async reconcile(context: ReconcileContext): Promise<Result> {
    const { providers, records, random, pace } = this.#deps;
    if (pace.periodMs === 0) return requeueAfter(OFF_MS);
    const name = sweptProvider(context.key);
    const provider = providers.providers.find((candidate) => candidate.name === name);
    const info = provider?.info;
    const periodMs = Math.max(pace.periodMs, info?.limits.minResyncIntervalMs ?? 0);
    if (provider === undefined || info === undefined || isUntrusted(provider)) {
      return requeueAfter(Math.min(UNAVAILABLE_MS, periodMs));
    }
    const known = activeAt(name, records);
    if (info.capabilities.loadBalancers?.list !== undefined) {
      await this.#compare(provider, known, context);
    } else {
      for (const [key] of known) records.commit(key, { kind: "suspected", delayMs: random() * periodMs });
    }
    return requeueAfter(jittered(periodMs, random));
  }

  async #compare(provider: Provider, known: readonly Known[], { signal, log }: ReconcileContext): Promise<void> {
    const { lister, records, clock, random, pace, checks } = this.#deps;
    const { items, byUid, complete } = await lister.list(provider, 0, { signal, priority: "low" });
    this.#seen(provider, items, log);
    if (isUntrusted(provider)) return;
    for (const [key, state] of known) {
      const loadBalancer = byUid.get(state.acknowledged.service.metadata.uid);
      const isKnown = loadBalancer !== undefined || complete;
      const record = records.get(key);
      const present = presentOf(record);
      // A change of ours during the list may or may not be on it.
      if (!isKnown || record?.state !== state || present === undefined) continue;
      const steady = { kind: "inspected", inspection: { kind: "steady" }, nowMs: clock.monotonicMs() } as const;
      records.commit(
        key,
        isSuspect(present, loadBalancer)
          ? {
              kind: "suspected",
              delayMs: present.baseline.kind === "verified" ? random() * SPREAD_MS : checks.delayMs(),
            }
          : { ...steady, periodMs: pace.periodMs },
      );
    }
  }

  /** Finds load balancers of Services that another provider serves now, and orphans. */
  #seen(provider: Provider, items: readonly LoadBalancer[], log: Logger): void {
    const services = new Map([...this.#deps.services.list()].map((service) => [service.metadata.uid, service]));
    const orphans = items.filter(({ service, phase }) => !services.has(service.uid) && phase !== "deleting");
    this.#reportOrphans(provider.name, orphans, log);
    for (const item of items) {
      const service = services.get(item.service.uid);
      if (service !== undefined && item.phase !== "deleting") this.#findPrevious(provider, service, item);
    }
  }

  /** Orphans are reported only: an operator must decide whether to delete them. */
  #reportOrphans(provider: string, orphans: readonly LoadBalancer[], log: Logger): void {
    const before = this.#orphans.get(provider) ?? new Set();
    this.#orphans.set(provider, new Set(orphans.map(({ id }) => id)));
    const lasting = orphans.filter(({ id }) => before.has(id));
    this.#deps.metrics.orphans.set({ provider }, lasting.length);
    for (const { id, service } of lasting) {
      log.info("Found an orphaned load balancer", {
        provider,
        loadBalancer: id,
        service: `${service.namespace}/${service.name}`,
        uid: service.uid,
      });
    }
  }

  #findPrevious(provider: Provider, service: Service, { id }: LoadBalancer): void {
    const { providers, records } = this.#deps;
    const key = keyOf(service);
    const record = records.get(key);
    const acknowledged = acknowledgedOf(record);
    if (record?.uid !== service.metadata.uid || acknowledged === undefined) return;
    if (acknowledged.provider === provider.name) return;
    const owner = providers.providers.find(({ name }) => name === acknowledged.provider);
    if (owner === undefined || isSamePlace(owner, provider)) return;
    if (acknowledged.loadBalancerID === id && isSuccessor(owner, provider)) return;
    records.commit(key, { kind: "previousFound", provider: provider.name, loadBalancerID: id });
  }
}

/** Acknowledged load balancers of the provider, without a change in progress. */
function activeAt(provider: string, records: Pick<Records, "list">): readonly Known[] {
  const active = ([key, { state }]: readonly [string, ServiceRecord]): readonly Known[] =>
    state.kind === "active" && state.acknowledged.provider === provider ? [[key, state]] : [];
  return [...records.list()].flatMap(active);
}

/** Absence from its list proves nothing. */
function isUntrusted({ unavailable, untrustedReason }: Provider): boolean {
  return unavailable !== undefined || untrustedReason !== undefined;
}

/** Up to 10 % earlier or later, so that many clusters do not sweep one cloud at the same time. */
function jittered(periodMs: number, random: Random): number {
  return periodMs * (0.9 + 0.2 * random());
}
