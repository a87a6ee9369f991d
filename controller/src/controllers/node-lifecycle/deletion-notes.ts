import { DELETIONS_ANNOTATION_PREFIX } from "../../api/annotations.ts";
import type { DeletionLedger } from "./deletion-history.ts";
import type { LeaseNotes } from "../../leadership/lease-lock.ts";

/**
 * Keeps the deletions that count for the brake on the Lease that they are made under, so that a leader counts those of the leader before.
 * Only the holder writes them; what is there while another holds it, or nobody, is that one's account, or its last.
 */
export class DeletionNotes implements LeaseNotes {
  readonly #ledger: DeletionLedger;
  readonly #identity: string;

  constructor(ledger: DeletionLedger, identity: string) {
    this.#ledger = ledger;
    this.#identity = identity;
  }

  read(annotations: Readonly<Record<string, string>>, holder: string): void {
    for (const [key, text] of Object.entries(annotations)) {
      if (!key.startsWith(DELETIONS_ANNOTATION_PREFIX)) continue;
      const provider = key.slice(DELETIONS_ANNOTATION_PREFIX.length);
      if (holder === this.#identity) this.#ledger.noted(provider, text);
      else this.#ledger.recall(provider, text);
    }
  }

  /** Also those of a provider that this process does not have any more, until they are too old. */
  write(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(
      this.#ledger.providers.map((provider) => [
        `${DELETIONS_ANNOTATION_PREFIX}${provider}`,
        this.#ledger.note(provider),
      ]),
    );
  }
}
