/** How long a target that refused a connection is asked last. */
const penaltyMs = 5000;

/** In which order the targets of one listener are tried: round robin, those that failed lately last. */
export class Rotation {
  #next = 0;
  readonly #failedUntilMs = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param stickyTo the same text begins with the same target as long as the targets stay the same */
  *candidates(targets: readonly string[], stickyTo?: string): Generator<string> {
    if (targets.length === 0) return;
    const start = (stickyTo === undefined ? this.#next : hash(stickyTo)) % targets.length;
    if (stickyTo === undefined) this.#next = start + 1;
    const failed: string[] = [];
    for (let step = 0; step < targets.length; step += 1) {
      const target = targets[(start + step) % targets.length];
      if (target === undefined) continue;
      if (this.#isFailed(target)) failed.push(target);
      else yield target;
    }
    yield* failed;
  }

  succeeded(target: string): void {
    this.#failedUntilMs.delete(target);
  }

  failed(target: string): void {
    this.#failedUntilMs.set(target, this.#now() + penaltyMs);
  }

  #isFailed(target: string): boolean {
    const untilMs = this.#failedUntilMs.get(target);
    if (untilMs === undefined) return false;
    if (untilMs > this.#now()) return true;
    this.#failedUntilMs.delete(target);
    return false;
  }
}

/** FNV-1a, 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
};
