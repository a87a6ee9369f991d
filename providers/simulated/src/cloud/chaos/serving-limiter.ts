import type { Settings } from "../../api/admin.ts";
import { bestPattern } from "./pattern.ts";

interface Line {
  readonly pattern: string;
  served: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
}

/** Serves so many calls of an account at once; others wait in line. A new limit holds from the next call that comes or ends. */
export class ServingLimiter {
  readonly #lines = new Map<string, Line>();
  readonly #limits: () => Settings["concurrency"];

  constructor(limits: () => Settings["concurrency"]) {
    this.#limits = limits;
  }

  /** Waits for the call's turn. Answers what has to be called at its end; undefined: the signal aborted before. */
  async enter(account: string, operation: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const pattern = bestPattern(this.#limits(), operation);
    if (pattern === undefined) return () => undefined;
    const line = this.#line(account, pattern);
    const hasTurn = await this.#turn(line, signal);
    if (!hasTurn) return undefined;
    return () => {
      line.served -= 1;
      this.#letIn(line);
    };
  }

  #line(account: string, pattern: string): Line {
    const key = `${account} ${pattern}`;
    const line = this.#lines.get(key) ?? { pattern, served: 0, waiting: new Set() };
    this.#lines.set(key, line);
    return line;
  }

  #turn(line: Line, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const begin = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      const giveUp = (): void => {
        line.waiting.delete(begin);
        resolve(false);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      line.waiting.add(begin);
      this.#letIn(line);
    });
  }

  #letIn(line: Line): void {
    const limit = this.#limits()[line.pattern] ?? Number.POSITIVE_INFINITY;
    for (const begin of line.waiting) {
      if (line.served >= limit) return;
      line.waiting.delete(begin);
      line.served += 1;
      begin();
    }
  }
}
