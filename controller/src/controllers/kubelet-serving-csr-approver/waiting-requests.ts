import type { Gauge } from "prom-client";
import type { ObjectionReason } from "./plan/claim.ts";

interface Waiting {
  readonly reason: ObjectionReason;
  readonly nodeName: string | undefined;
  readonly reported: string | undefined;
}

export class WaitingRequests {
  readonly #gauge: Gauge<"reason">;
  readonly #requests = new Map<string, Waiting>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #counts = new Map<ObjectionReason, number>();

  constructor(gauge: Gauge<"reason">) {
    this.#gauge = gauge;
  }

  put(key: string, reason: ObjectionReason, nodeName?: string): void {
    const reported = this.#requests.get(key)?.reported;
    this.forget(key);
    this.#requests.set(key, { reason, nodeName, reported });
    this.#count(reason, 1);
    if (nodeName === undefined) return;
    const keys = this.#byNode.get(nodeName) ?? new Set<string>();
    this.#byNode.set(nodeName, keys.add(key));
  }

  isNew(key: string, text: string): boolean {
    return this.#requests.get(key)?.reported !== text;
  }

  reported(key: string, text: string): void {
    const request = this.#requests.get(key);
    if (request !== undefined) this.#requests.set(key, { ...request, reported: text });
  }

  keysOf(nodeName: string): readonly string[] {
    return [...(this.#byNode.get(nodeName) ?? [])];
  }

  retriable(): readonly string[] {
    return [...this.#byNode.values()].flatMap((keys) => [...keys]);
  }

  forget(key: string): void {
    const request = this.#requests.get(key);
    if (request === undefined) return;
    this.#requests.delete(key);
    this.#count(request.reason, -1);
    if (request.nodeName === undefined) return;
    const keys = this.#byNode.get(request.nodeName);
    keys?.delete(key);
    if (keys?.size === 0) this.#byNode.delete(request.nodeName);
  }

  #count(reason: ObjectionReason, by: 1 | -1): void {
    const count = (this.#counts.get(reason) ?? 0) + by;
    this.#counts.set(reason, count);
    this.#gauge.set({ reason }, count);
  }
}
