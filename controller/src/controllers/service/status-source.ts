import { keyOf } from "../../api/meta.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { Source } from "../../runtime/source.ts";
import type { Clock } from "../../util/clock.ts";
import { losesStatus } from "./predicates.ts";
import { acknowledgedOf } from "./record/record.ts";
import type { Records } from "./record/records.ts";

/** Somebody who writes another address again and again is answered no faster: each has the last word for a while, and nobody spins. */
const REPAIR_PERIOD_MS = 30_000;

export interface StatusSourceOptions {
  readonly services: Informer<Service>;
  readonly records: Pick<Records, "get">;
  readonly clock: Clock;
}

/** Wakes a Service whose published address or condition somebody else has changed: the first time at once, then paced. */
export function statusSource({ services, records, clock }: StatusSourceOptions): Source {
  /** When each Service's status was last put right, or is going to be. */
  const repairAtMs = new Map<string, number>();
  const delayMs = (key: string): number => {
    const nowMs = clock.monotonicMs();
    const lastMs = repairAtMs.get(key) ?? -REPAIR_PERIOD_MS;
    const atMs = lastMs > nowMs ? lastMs : Math.max(nowMs, lastMs + REPAIR_PERIOD_MS);
    repairAtMs.set(key, atMs);
    return atMs - nowMs;
  };
  return {
    name: "status of services",
    ready: (signal) => services.whenSynced(signal),
    start: (queue) =>
      services.addHandler({
        onUpdate: (old, service) => {
          const key = keyOf(service);
          if (losesStatus(old, service, acknowledgedOf(records.get(key))?.ingress)) queue.addAfter(key, delayMs(key));
        },
        onDelete: (service) => repairAtMs.delete(keyOf(service)),
      }),
  };
}
