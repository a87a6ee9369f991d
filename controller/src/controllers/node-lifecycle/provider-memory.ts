import { BRAKE_WINDOW_MS } from "./plan/brake.ts";

/**
 * What is remembered of each provider, by the operator's name for it. Outlives the controller: the brake must not begin anew because
 * the controller was built afresh. All times are monotonic.
 */
export class ProviderMemory {
  /** Times of deletions that count, oldest first. */
  readonly #deletions = new Map<string, readonly number[]>();
  readonly #failures = new Map<string, number>();
  readonly #contradictions = new Map<string, number>();

  /** A Node of the provider whose machine it called absent was deleted. */
  deleted(provider: string, nowMs: number): void {
    this.#deletions.set(provider, [...this.#recent(provider, nowMs), nowMs]);
  }

  /** Deletions within the brake's window. */
  deletions(provider: string, nowMs: number): number {
    return this.#recent(provider, nowMs).length;
  }

  /** The provider failed in a way that casts doubt on what else it says. */
  failed(provider: string, nowMs: number): void {
    this.#failures.set(provider, nowMs);
  }

  failedAtMs(provider: string): number | undefined {
    return this.#failures.get(provider);
  }

  /** A machine that the provider had called absent is there. */
  contradicted(provider: string, nowMs: number): void {
    this.#contradictions.set(provider, nowMs);
    this.failed(provider, nowMs);
  }

  /** Absences of the provider that were heard up to then count no longer. */
  contradictedAtMs(provider: string): number | undefined {
    return this.#contradictions.get(provider);
  }

  #recent(provider: string, nowMs: number): readonly number[] {
    return (this.#deletions.get(provider) ?? []).filter((atMs) => nowMs - atMs < BRAKE_WINDOW_MS);
  }
}
