import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import type { JsonObject } from "../../../kube/client.ts";
import type { Clock } from "../../../util/clock.ts";
import { type Readiness, readinessItems, toldReadiness } from "../plan/status.ts";
import { needsUpdate } from "../predicates.ts";

/** Another wording of the same reason is written this often at most: errors may hold what differs from try to try. */
const REWORD_MS = 300_000;

/** What is still to be written of a {@link Readiness}. */
export interface Conditions {
  /** Items for `status.conditions`; undefined: nothing is to be written. */
  items(service: Service, wanted: Readiness): readonly JsonObject[] | undefined;
  /** The Service is gone. */
  forget(key: string): void;
}

/** Nothing is said: somebody else has the word. */
export const MUTED: Conditions = { items: () => undefined, forget: () => undefined };

/** Lets through what changes the meaning of the condition or is about another wish, and seldom what changes only its wording. */
export class PacedConditions implements Conditions {
  readonly #clock: Clock;
  /** By key: when, monotonic, and about which wish. */
  readonly #written = new Map<string, { readonly atMs: number; readonly service: Service }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  items(service: Service, wanted: Readiness): readonly JsonObject[] | undefined {
    const items = readinessItems(service, wanted, this.#clock.nowMs());
    if (items === undefined) return undefined;
    const key = keyOf(service);
    const nowMs = this.#clock.monotonicMs();
    const told = toldReadiness(service);
    const isSame = told?.status === wanted.status && told.reason === wanted.reason;
    const last = this.#written.get(key);
    const isPaced = last !== undefined && nowMs - last.atMs < REWORD_MS && !needsUpdate(last.service, service);
    if (isSame && isPaced) return undefined;
    this.#written.set(key, { atMs: nowMs, service });
    return items;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
