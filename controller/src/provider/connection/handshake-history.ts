import { changeText, type InfoChange, infoChanges } from "./info-diff.ts";
import type { ProviderInfo } from "../model/info.ts";

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

  get last(): ProviderInfo | undefined {
    return this.#last;
  }

  get records(): readonly HandshakeRecord[] {
    return this.#records;
  }

  /** Answers what differs from the handshake before. */
  note(info: ProviderInfo, atMs: number): readonly InfoChange[] {
    const all = this.#last === undefined ? [] : infoChanges(this.#last, info);
    const told = all.slice(0, MAX_CHANGES).map(changeText);
    const changes = all.length > MAX_CHANGES ? [...told, `${all.length - MAX_CHANGES} more`] : told;
    const { version, bootId } = info;
    this.#records = [{ atMs, version, bootId, changes }, ...this.#records].slice(0, KEPT);
    this.#last = info;
    return all;
  }
}
