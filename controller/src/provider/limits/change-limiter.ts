import { Semaphore } from "../../util/semaphore.ts";

type Priority = Parameters<Semaphore["enter"]>[0];

/** Lets changes of different keys run at once, of one key one at a time, and one whose key is not known by itself: it may be anybody's. */
export class KeyedGate {
  readonly #all = new Semaphore(1);
  /** Of those who need the whole gate only one collects places. */
  readonly #alone = new Semaphore(1);
  readonly #keys = new Map<string, Semaphore>();
  #limit = 1;

  /** Takes effect while nobody is inside: whoever is alone holds as many places as there were. */
  setLimit(limit: number): void {
    if (limit === this.#limit || this.#all.inside > 0 || this.#alone.inside > 0) return;
    this.#limit = limit;
    this.#all.setLimit(limit);
  }

  /** Resolves with the way out; rejects with the signal's reason. */
  async enter(key: string | undefined, priority: Priority, signal: AbortSignal): Promise<() => void> {
    const ways: (() => void)[] = [];
    const leave = (): void => {
      for (const way of ways.splice(0)) way();
    };
    try {
      if (key === undefined) {
        ways.push(await this.#alone.enter(priority, signal));
        for (let place = 0; place < this.#limit; place += 1) ways.push(await this.#all.enter(priority, signal));
      } else {
        ways.push(await this.#enterKey(key, priority, signal));
        ways.push(await this.#all.enter(priority, signal));
      }
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enterKey(key: string, priority: Priority, signal: AbortSignal): Promise<() => void> {
    const gate = this.#keys.get(key) ?? new Semaphore(1);
    this.#keys.set(key, gate);
    const leave = await gate.enter(priority, signal);
    return () => {
      leave();
      if (gate.inside === 0 && gate.waiting === 0) this.#keys.delete(key);
    };
  }
}
