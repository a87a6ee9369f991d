import { DELETIONS_ANNOTATION_PREFIX } from "../../api/annotations.ts";
import type { LeaseAnnotation } from "../../runtime/lease-annotation.ts";
import type { Logger } from "../../telemetry/log.ts";
import { raceAbort } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { formatAnnotation, parseAnnotation } from "./guard/deletion-annotation.ts";
import { type Deletion, type DeletionWindow, EMPTY_WINDOW, merged, recent, total } from "./guard/circuit-breaker.ts";

export interface DeletionHistoryDependencies {
  readonly clock: Clock;
  readonly log: Logger;
}

/** What counts for the brake of what a provider's Nodes have gone through. */
export interface Deleted {
  readonly count: number;
  /** Others may have gone of which nothing is known any more. */
  readonly isUnknown: boolean;
}

/** Where deletions are noted before they are made. */
export interface DeletionLease {
  /** Whether Nodes of the provider are really deleted, and not only planned to be. */
  readonly isActive: (provider: string) => boolean;
  /** Told that an announcement waits for the next note. */
  readonly onAnnounced: () => void;
}

/** A Node that is about to go, until it has gone or stays. */
interface PendingDeletion {
  readonly noted: PromiseWithResolvers<void>;
}

interface ProviderDeletions {
  readonly window: DeletionWindow;
  /** Announced, and not disposed of yet. */
  readonly announced: Set<PendingDeletion>;
  /** Asked for without an answer, and not disposed of yet: whoever leads next counts them. */
  readonly uncertain: Set<Deletion>;
  /** The last note that was to be written, and what it tells of. */
  readonly written: { readonly text: string; readonly announced: readonly PendingDeletion[] } | undefined;
  /** The last one of another process. */
  readonly lastRead: string | undefined;
}

/**
 * The deletions that count for the brake, by the operator's name for the provider. They outlive the controller, and the process, too,
 * where a Lease is held: there each is announced on the Lease before it happens, and whoever leads next reads of it.
 */
export class DeletionHistory {
  readonly #deps: DeletionHistoryDependencies;
  readonly #accounts = new Map<string, ProviderDeletions>();
  /** undefined: there is no Lease. */
  #lease: DeletionLease | undefined;

  constructor(dependencies: DeletionHistoryDependencies) {
    this.#deps = dependencies;
  }

  /** Of the providers whose Nodes have gone, or were to go. */
  get providers(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** A Node of the provider whose machine it called absent was deleted. */
  deleted(provider: string): void {
    const { window } = this.#of(provider);
    const deletions = [...window.deletions, { atMs: this.#deps.clock.monotonicMs(), count: 1 }];
    this.#put(provider, { window: { ...window, deletions } });
  }

  /** Within the brake's window. */
  count(provider: string): Deleted {
    const { window } = this.#of(provider);
    return { count: total(window.deletions), isUnknown: window.unknownAtMs !== undefined };
  }

  /** From now on announcements wait until they are noted there. */
  keepOn(lease: DeletionLease): void {
    this.#lease = lease;
  }

  /**
   * A Node of the provider is about to go. Resolves once whoever leads next would know, so that no crash makes it forgotten; to be
   * disposed of once the Node has gone or stays. Rejects with the signal.
   */
  async announce(provider: string, signal: AbortSignal): Promise<Disposable> {
    const noted = Promise.withResolvers<void>();
    const announcement = { noted };
    const { announced } = this.#of(provider);
    const own = { [Symbol.dispose]: () => void announced.delete(announcement) };
    if (this.#lease?.isActive(provider) !== true) return own;
    announced.add(announcement);
    this.#lease.onAnnounced();
    try {
      await raceAbort(noted.promise, signal);
    } catch (error) {
      own[Symbol.dispose]();
      throw error;
    }
    return own;
  }

  /** A Node of the provider has gone or not, nobody knows; to be disposed of once it shows. It stays on the Lease until it is too old. */
  uncertain(provider: string): Disposable {
    const { uncertain } = this.#of(provider);
    const deletion = { atMs: this.#deps.clock.monotonicMs(), count: 1 };
    uncertain.add(deletion);
    return { [Symbol.dispose]: () => void uncertain.delete(deletion) };
  }

  /** What is to be written of the provider; undefined: nothing counts. */
  note(provider: string): string | undefined {
    const { clock } = this.#deps;
    const { window, announced, uncertain } = this.#of(provider);
    const moment = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    const counted = recent({ ...window, deletions: [...window.deletions, ...uncertain] }, moment.monotonicMs);
    const text = formatAnnotation({ ...counted, announced: announced.size }, moment);
    this.#put(provider, { written: text === undefined ? undefined : { text, announced: [...announced] } });
    return text;
  }

  /** That is on the Lease while this process holds it. What somebody else has made of it is not asked after. */
  noted(provider: string, text: string): void {
    const { written } = this.#of(provider);
    if (written?.text !== text) return;
    for (const { noted } of written.announced) noted.resolve();
  }

  /** That is on the Lease while another holds it, or nobody. */
  recall(provider: string, text: string): void {
    const { clock, log } = this.#deps;
    const { window, written, lastRead } = this.#of(provider);
    // A note that was seen before grows older by itself.
    if (text === lastRead || text === written?.text) return;
    const nowMs = clock.monotonicMs();
    const read = parseAnnotation(text, nowMs);
    if (read === undefined) {
      log.error("What was deleted last cannot be read from the Lease; no Node of the provider goes for 10 minutes", {
        provider,
        note: text.slice(0, 200),
      });
      return this.#put(provider, { lastRead: text, window: { ...window, unknownAtMs: nowMs } });
    }
    // Whoever wrote it has read what was there before.
    const { unknownAtMs } = read;
    this.#put(provider, {
      lastRead: text,
      window: { deletions: merged(window.deletions, read.deletions), unknownAtMs },
    });
  }

  #of(provider: string): ProviderDeletions {
    const account = this.#accounts.get(provider) ?? {
      window: EMPTY_WINDOW,
      announced: new Set(),
      uncertain: new Set(),
      written: undefined,
      lastRead: undefined,
    };
    const current = { ...account, window: recent(account.window, this.#deps.clock.monotonicMs()) };
    this.#accounts.set(provider, current);
    return current;
  }

  #put(provider: string, changes: Partial<ProviderDeletions>): void {
    this.#accounts.set(provider, { ...this.#of(provider), ...changes });
  }
}

/**
 * Keeps the deletions that count for the brake on the Lease that they are made under, so that a leader counts those of the leader before.
 * Only the holder writes them; what is there while another holds it, or nobody, is that one's account, or its last.
 */
export class LeaseDeletions implements LeaseAnnotation {
  readonly #deletions: DeletionHistory;
  readonly #identity: string;
  readonly #isActive: DeletionLease["isActive"];

  /** @param identity of this process, on the Lease */
  constructor(deletions: DeletionHistory, identity: string, isActive: DeletionLease["isActive"]) {
    this.#deletions = deletions;
    this.#identity = identity;
    this.#isActive = isActive;
  }

  keptOn(renewSoon: () => void): void {
    this.#deletions.keepOn({ isActive: this.#isActive, onAnnounced: renewSoon });
  }

  read(annotations: Readonly<Record<string, string>>, holder: string): void {
    for (const [key, text] of Object.entries(annotations)) {
      if (!key.startsWith(DELETIONS_ANNOTATION_PREFIX)) continue;
      const provider = key.slice(DELETIONS_ANNOTATION_PREFIX.length);
      if (holder === this.#identity) this.#deletions.noted(provider, text);
      else this.#deletions.recall(provider, text);
    }
  }

  /** Also those of a provider that this process does not have any more, until they are too old. */
  write(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(
      this.#deletions.providers.map((provider) => [
        `${DELETIONS_ANNOTATION_PREFIX}${provider}`,
        this.#deletions.note(provider),
      ]),
    );
  }
}
