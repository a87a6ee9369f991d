/** A provider that was confirmed to work in one account, project or region, and now says it works in another. */
export interface ScopeChange {
  readonly confirmed: string;
  readonly current: string;
}

/** Remembers in which scope a provider may change things: the first one seen. Another process of this program begins anew. */
export class ScopeGuard {
  #confirmed: string | undefined;
  #current: string | undefined;

  /** Present while the scope is in doubt: nothing may be changed, and no absence be believed. */
  get change(): ScopeChange | undefined {
    const confirmed = this.#confirmed;
    const current = this.#current;
    if (confirmed === undefined || current === undefined || confirmed === current) return undefined;
    return { confirmed, current };
  }

  /** An empty scope says nothing: the provider has not reached its cloud yet. */
  see(scopeId: string): void {
    if (scopeId === "") return;
    this.#confirmed ??= scopeId;
    this.#current = scopeId;
  }
}
