/** A provider that was confirmed to work in one account, project or region, and now says it works in another. */
export interface ScopeChange {
  readonly confirmed: string;
  readonly current: string;
  /** What an operator does if the current one is meant. */
  readonly remedy: string;
}

/** How an operator accepts another scope. */
export type ScopeRemedy = (current: string) => string;

/**
 * Remembers in which scope a provider may change things: the one that is written down, else the first one seen. Whoever writes it
 * down outlives this process; without, another process begins anew.
 */
export class ScopeGuard {
  readonly #remedy: ScopeRemedy;
  #confirmed: string | undefined;
  #current: string | undefined;
  #written: string | undefined;

  constructor(remedy: ScopeRemedy) {
    this.#remedy = remedy;
  }

  /** What is to be written down; undefined: nothing known yet. */
  get confirmed(): string | undefined {
    return this.#confirmed;
  }

  /** Present while the scope is in doubt: nothing may be changed, and no absence be believed. */
  get change(): ScopeChange | undefined {
    const confirmed = this.#confirmed;
    const current = this.#current;
    if (confirmed === undefined || current === undefined || confirmed === current) return undefined;
    return { confirmed, current, remedy: this.#remedy(current) };
  }

  /** An empty scope says nothing: the provider has not reached its cloud yet. */
  see(scopeId: string): void {
    if (scopeId === "") return;
    this.#confirmed ??= scopeId;
    this.#current = scopeId;
  }

  /**
   * What is written down, each time it is read; "" is nothing. It counts more than what this process saw first: that may be a process
   * with the wrong credentials. Taken away by an operator, it accepts whatever is.
   */
  recall(written: string): void {
    if (written === (this.#written ?? "")) return;
    this.#written = written === "" ? undefined : written;
    this.#confirmed = this.#written ?? this.#current;
  }
}
