/** When each provider last failed, by the operator's name for it. Outlives the controller. All times are monotonic. */
export class ProviderMemory {
  readonly #failures = new Map<string, number>();
  readonly #contradictions = new Map<string, number>();

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
}
