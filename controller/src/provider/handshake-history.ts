import { infoChanges } from "./info-diff.ts";
import type { ProviderInfo } from "./provider-info.ts";

/** One handshake of the past: which process answered, and what it declared differently than the one before. */
export interface HandshakeRecord {
  /** Wall clock. */
  readonly atMs: number;
  readonly version: string;
  readonly bootId: string;
  readonly changes: readonly string[];
}

const KEPT = 10;
/** A provider that turns into another one altogether has hundreds. */
const MAX_CHANGES = 20;

/** The last handshakes of one provider, newest first. */
export class HandshakeHistory {
  #last: ProviderInfo | undefined;
  #records: readonly HandshakeRecord[] = [];

  get records(): readonly HandshakeRecord[] {
    return this.#records;
  }

  /** One that is told again is no new one. */
  note(info: ProviderInfo, atMs: number): void {
    const before = this.#last;
    if (info === before) return;
    this.#last = info;
    const all = before === undefined ? [] : infoChanges(before, info);
    const told = all
      .slice(0, MAX_CHANGES)
      .map(({ path, before: was = "absent", after: is = "absent" }) => `${path}: ${was} -> ${is}`);
    const changes = all.length > MAX_CHANGES ? [...told, `${all.length - MAX_CHANGES} more`] : told;
    const { version, bootId } = info;
    this.#records = [{ atMs, version, bootId, changes }, ...this.#records].slice(0, KEPT);
  }
}
