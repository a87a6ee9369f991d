import { DELETIONS_ANNOTATION_PREFIX } from "../../api/annotations.ts";
import type { LeaseAnnotation } from "../../runtime/lease-annotation.ts";
import type { Logger } from "../../telemetry/log.ts";
import { raceAbort } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { formatAnnotation, parseAnnotation } from "./guard/deletion-annotation.ts";
import { type Deletion, type DeletionWindow, EMPTY_WINDOW, merged, recent, total } from "./guard/circuit-breaker.ts";

/** Deletions of a provider's Nodes that the circuit breaker counts. */
export interface Deleted {
  readonly count: number;
  /** An unknown number of others may have been deleted. */
  readonly isUnknown: boolean;
}

export interface DeletionLease {
  /** Whether Nodes of the provider are deleted, and not only planned to be. */
  readonly isActive: (provider: string) => boolean;
  /** Called when a deletion waits to be recorded. */
  readonly onAnnounced: () => void;
}

interface PendingDeletion {
  readonly recorded: PromiseWithResolvers<void>;
}

interface ProviderDeletions {
  readonly window: DeletionWindow;
  readonly announced: Set<PendingDeletion>;
  /** Requested, with an unknown outcome. The next leader counts them. */
  readonly uncertain: Set<Deletion>;
  /** The last annotation of this process, and the deletions in it. */
  readonly written: { readonly text: string; readonly announced: readonly PendingDeletion[] } | undefined;
  /** The last annotation of another process. */
  readonly lastRead: string | undefined;
}

/**
 * The deletions that the circuit breaker counts, by provider name. They outlive the controller. With a Lease they also outlive the
 * process: each deletion is recorded on it before it is made, and the next leader reads it.
 */
export class DeletionHistory {
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #providers = new Map<string, ProviderDeletions>();
  #lease: DeletionLease | undefined;

  constructor(dependencies: { readonly clock: Clock; readonly log: Logger }) {
    this.#deps = dependencies;
  }

  get providers(): readonly string[] {
    return [...this.#providers.keys()];
  }

  deleted(provider: string): void {
    const { window } = this.#of(provider);
    const deletions = [...window.deletions, { atMs: this.#deps.clock.monotonicMs(), count: 1 }];
    this.#put(provider, { window: { ...window, deletions } });
  }

  count(provider: string): Deleted {
    const { window } = this.#of(provider);
    return { count: total(window.deletions), isUnknown: window.unknownAtMs !== undefined };
  }

  /** From now on deletions are recorded before they are made. */
  keepOn(lease: DeletionLease): void {
    this.#lease = lease;
  }

  /** Resolves when the coming deletion is recorded. Dispose when the Node is deleted or kept. Rejects when `signal` aborts. */
  async announce(provider: string, signal: AbortSignal): Promise<Disposable> {
    const recorded = Promise.withResolvers<void>();
    const pending = { recorded };
    const { announced } = this.#of(provider);
    const own = { [Symbol.dispose]: () => void announced.delete(pending) };
    if (this.#lease?.isActive(provider) !== true) return own;
    announced.add(pending);
    this.#lease.onAnnounced();
    try {
      await raceAbort(recorded.promise, signal);
    } catch (error) {
      own[Symbol.dispose]();
      throw error;
    }
    return own;
  }

  /** The outcome of a deletion is unknown. Dispose when it is known. */
  uncertain(provider: string): Disposable {
    const { uncertain } = this.#of(provider);
    const deletion = { atMs: this.#deps.clock.monotonicMs(), count: 1 };
    uncertain.add(deletion);
    return { [Symbol.dispose]: () => void uncertain.delete(deletion) };
  }

  /** The annotation of the provider; undefined: nothing to record. */
  annotationOf(provider: string): string | undefined {
    const { clock } = this.#deps;
    const { window, announced, uncertain } = this.#of(provider);
    const moment = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    const counted = recent({ ...window, deletions: [...window.deletions, ...uncertain] }, moment.monotonicMs);
    const text = formatAnnotation({ ...counted, announced: announced.size }, moment);
    this.#put(provider, { written: text === undefined ? undefined : { text, announced: [...announced] } });
    return text;
  }

  /** The Lease, held by this process, has that annotation. Values of other writers are ignored. */
  recorded(provider: string, text: string): void {
    const { written } = this.#of(provider);
    if (written?.text !== text) return;
    for (const { recorded } of written.announced) recorded.resolve();
  }

  /** The Lease, not held by this process, has that annotation. */
  read(provider: string, text: string): void {
    const { clock, log } = this.#deps;
    const { window, written, lastRead } = this.#of(provider);
    if (text === lastRead || text === written?.text) return;
    const nowMs = clock.monotonicMs();
    const read = parseAnnotation(text, nowMs);
    if (read === undefined) {
      log.error("Could not read the last deletions from the Lease; no Node of the provider is deleted for 10 minutes", {
        provider,
        annotation: text.slice(0, 200),
      });
      return this.#put(provider, { lastRead: text, window: { ...window, unknownAtMs: nowMs } });
    }
    // Its writer has read the annotation before it, so that only its `unknownAtMs` counts.
    const { unknownAtMs } = read;
    this.#put(provider, {
      lastRead: text,
      window: { deletions: merged(window.deletions, read.deletions), unknownAtMs },
    });
  }

  #of(provider: string): ProviderDeletions {
    const known = this.#providers.get(provider) ?? {
      window: EMPTY_WINDOW,
      announced: new Set(),
      uncertain: new Set(),
      written: undefined,
      lastRead: undefined,
    };
    const current = { ...known, window: recent(known.window, this.#deps.clock.monotonicMs()) };
    this.#providers.set(provider, current);
    return current;
  }

  #put(provider: string, changes: Partial<ProviderDeletions>): void {
    this.#providers.set(provider, { ...this.#of(provider), ...changes });
  }
}

/** Keeps the deletions on the Lease. Only the leader writes them; values of another or previous leader are merged. */
export class LeaseDeletions implements LeaseAnnotation {
  readonly #history: DeletionHistory;
  readonly #identity: string;
  readonly #isActive: DeletionLease["isActive"];

  /** @param identity of this process, on the Lease */
  constructor(history: DeletionHistory, identity: string, isActive: DeletionLease["isActive"]) {
    this.#history = history;
    this.#identity = identity;
    this.#isActive = isActive;
  }

  keptOn(renewSoon: () => void): void {
    this.#history.keepOn({ isActive: this.#isActive, onAnnounced: renewSoon });
  }

  read(annotations: Readonly<Record<string, string>>, holderIdentity: string): void {
    for (const [key, text] of Object.entries(annotations)) {
      if (!key.startsWith(DELETIONS_ANNOTATION_PREFIX)) continue;
      const provider = key.slice(DELETIONS_ANNOTATION_PREFIX.length);
      if (holderIdentity === this.#identity) this.#history.recorded(provider, text);
      else this.#history.read(provider, text);
    }
  }

  /** Includes providers that this process no longer has, until their deletions are too old. */
  write(): Readonly<Record<string, string | undefined>> {
    const { providers } = this.#history;
    return Object.fromEntries(
      providers.map((provider) => [`${DELETIONS_ANNOTATION_PREFIX}${provider}`, this.#history.annotationOf(provider)]),
    );
  }
}
