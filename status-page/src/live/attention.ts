/** A tab that nobody has looked at for this long costs the controller nothing: it has few places for readers, and works for each. */
const UNSEEN_MS = 5 * 60_000;

/** Whether somebody looks at the page. */
export class Attention {
  #unseen = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onSeen: () => void = () => undefined;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#look());
    this.#look();
  }

  /** Aborted once nobody has looked for long; there is another when somebody does again. */
  get signal(): AbortSignal {
    return this.#unseen.signal;
  }

  /** Until somebody looks, where nobody has for long. */
  async seen(): Promise<void> {
    if (!this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onSeen = resolve;
    });
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => this.#unseen.abort(), UNSEEN_MS);
    } else if (this.signal.aborted) {
      this.#unseen = new AbortController();
      this.#onSeen();
    }
  }
}
