/** After this time a hidden tab disconnects, because the controller serves few readers. */
const UNSEEN_MS = 5 * 60_000;

/** Whether the page is visible. */
export class Attention {
  #unseen = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onSeen: () => void = () => undefined;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#look());
    this.#look();
  }

  /** Aborted after the page was hidden for long; replaced when it is visible again. */
  get signal(): AbortSignal {
    return this.#unseen.signal;
  }

  /** Resolves when the page is visible, if it was hidden for long. */
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
