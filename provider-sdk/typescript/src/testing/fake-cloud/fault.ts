import type { Clock } from "../../util/clock.ts";

/** A failure of the cloud. With `applied` the cloud applies the request before it fails: the response is lost, the change is not. */
export type Fault =
  /** Answers late. */
  | { readonly kind: "latency"; readonly ms: number }
  /** Answers with this HTTP status: 401, 403, 404, 429, 500. */
  | {
      readonly kind: "status";
      readonly status: number;
      /** Header `Retry-After`. */
      readonly retryAfterSeconds?: number | undefined;
      /** Default: `{ "error": "…" }`. */
      readonly body?: unknown;
      readonly applied?: boolean | undefined;
    }
  /** Never answers; the connection is cut when the fault is removed or the cloud closes. */
  | { readonly kind: "hang"; readonly applied?: boolean | undefined }
  /** Cuts the connection without an answer. */
  | { readonly kind: "reset"; readonly applied?: boolean | undefined }
  /** Sends half of the answer, then cuts the connection. The cloud has done what it was asked. */
  | { readonly kind: "cutShort" }
  /** Answers 429 with `Retry-After` to what comes faster than this. */
  | { readonly kind: "rateLimit"; readonly perSecond: number; readonly burst: number };

/** Which requests a fault meets; all of them unless something is said. */
export interface FaultScope {
  /** HTTP method: `PUT`. */
  readonly method?: string | undefined;
  /** The path, or a pattern that it matches: `/machines`, `/^\/lbs\//`. */
  readonly path?: string | RegExp | undefined;
  /** The first so many of them. */
  readonly times?: number | undefined;
  /** This part of them, 0 to 1, by the cloud's `random`. */
  readonly rate?: number | undefined;
}

/** A fault at work. */
export interface InjectedFault {
  /** How many requests it has met. */
  readonly hitCount: () => number;
  /** Ends it. Requests that hang because of it are cut. */
  readonly remove: () => void;
}

/** What a request must suffer. */
export type Suffering = Exclude<Fault, { readonly kind: "rateLimit" }> & {
  /** Aborted when the fault is removed. */
  readonly removed: AbortSignal;
};

interface ActiveFault {
  readonly fault: Fault;
  readonly scope: FaultScope;
  readonly removed: AbortController;
  readonly takesToken: () => number | undefined;
  hits: number;
}

/** The faults of one cloud. */
export class Faults {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #active = new Set<ActiveFault>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** From now on requests within the scope meet the fault. */
  inject(fault: Fault, scope: FaultScope): InjectedFault {
    const active: ActiveFault = {
      fault,
      scope,
      removed: new AbortController(),
      takesToken: fault.kind === "rateLimit" ? tokenBucket(fault, this.#clock.nowMs) : () => undefined,
      hits: 0,
    };
    this.#active.add(active);
    return { hitCount: () => active.hits, remove: () => this.#remove(active) };
  }

  /** Ends all faults. */
  clear(): void {
    for (const active of this.#active) this.#remove(active);
  }

  /** What this request must suffer, in the order in which the faults were injected. */
  of(method: string, path: string): readonly Suffering[] {
    return [...this.#active].flatMap((active) => {
      if (!this.#meets(active, method, path)) return [];
      const { signal: removed } = active.removed;
      const { fault } = active;
      if (fault.kind !== "rateLimit") {
        active.hits += 1;
        return [{ ...fault, removed }];
      }
      const waitSeconds = active.takesToken();
      if (waitSeconds === undefined) return [];
      active.hits += 1;
      return [{ kind: "status" as const, status: 429, retryAfterSeconds: waitSeconds, removed }];
    });
  }

  #meets({ scope, hits }: ActiveFault, method: string, path: string): boolean {
    if (scope.method !== undefined && scope.method.toUpperCase() !== method) return false;
    if (typeof scope.path === "string" && scope.path !== path) return false;
    if (scope.path instanceof RegExp && !scope.path.test(path)) return false;
    if (scope.times !== undefined && hits >= scope.times) return false;
    return scope.rate === undefined || this.#random() < scope.rate;
  }

  #remove(active: ActiveFault): void {
    this.#active.delete(active);
    active.removed.abort(new DOMException("The fault was removed", "AbortError"));
  }
}

/** Answers undefined when a token was there, else the whole seconds until one is. */
const tokenBucket = (
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
  nowMs: () => number,
): (() => number | undefined) => {
  let tokens = burst;
  let filledMs = nowMs();
  return () => {
    const now = nowMs();
    tokens = Math.min(burst, tokens + ((now - filledMs) / 1_000) * perSecond);
    filledMs = now;
    if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / perSecond));
    tokens -= 1;
    return undefined;
  };
};
