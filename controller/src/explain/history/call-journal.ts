import { beginningOf } from "../../util/text.ts";
import {
  type ItemFailure,
  itemFailures,
  keptOf,
  type Subjects,
  subjectsOf,
} from "../../provider/observers/call-subjects.ts";
import type { CallRecord, CallSink } from "../../provider/observers/observed-caller.ts";

/** A provider call without its request. */
export interface JournalCall {
  /** Wall clock, when it was sent. */
  readonly startMs: number;
  readonly provider: string;
  readonly method: string;
  readonly durationMs: number;
  /** OK, or the canonical gRPC code. */
  readonly code: string;
  /** "": none. */
  readonly reason: string;
  readonly message: string;
  readonly cloudRequestIds: readonly string[];
}

interface Entry {
  readonly call: JournalCall;
  readonly subjects: Subjects;
  readonly failures: ReadonlyMap<string, ItemFailure> | undefined;
}

/** The result of a call for one object. */
export interface ObjectCall extends JournalCall {
  readonly objectCount: number;
}

/** Successful and failed calls each. */
const CALLS = 500;

/** Most names of objects, for successful and failed calls each. */
const NAMES = 60_000;

/** Cloud request IDs per call, as in the contract. */
const IDS = 5;
const ID_LENGTH = 128;

/** Frequent calls: only the last of each provider is kept. */
const PROBES: ReadonlySet<string> = new Set(["GetProviderInfo", "GetProviderStatus"]);

/** Recent provider calls by object: a few megabytes at most. */
export class CallJournal implements CallSink {
  readonly #succeeded = new Ring();
  readonly #failed = new Ring();
  readonly #probes = new Map<string, Entry>();

  ended<Request, Response>({ rpc, request, outcome, ...call }: CallRecord<Request, Response>): void {
    const { startMs, provider, durationMs } = call;
    const subjects = subjectsOf(rpc, request);
    const common = { startMs, provider, method: rpc.name, durationMs };
    if (outcome.kind === "answered") {
      const { cloudRequestIds = [] } = outcome.stats ?? {};
      const answered = { ...common, code: "OK", reason: "", message: "", cloudRequestIds };
      this.note(answered, subjects, itemFailures(subjects, outcome.response));
    } else if (!outcome.isGivenUp) {
      const { code, reason, message, cloudRequestIds } = outcome.error;
      this.note({ ...common, code, reason, message, cloudRequestIds }, subjects, undefined);
    }
  }

  note(call: JournalCall, subjects: Subjects, failures: ReadonlyMap<string, ItemFailure> | undefined): void {
    const entry = { call: bounded(call), subjects, failures };
    if (PROBES.has(call.method)) this.#probes.set(`${call.provider} ${call.method}`, entry);
    else if (call.code === "OK" && failures === undefined) this.#succeeded.add(entry);
    else this.#failed.add(entry);
  }

  /** Newest first. */
  of(kind: Exclude<Subjects["kind"], "provider">, name: string, limit: number): readonly ObjectCall[] {
    const isWanted = ({ subjects }: Entry): boolean => subjects.kind === kind && subjects.names.includes(name);
    return newestFirst([...this.#succeeded.find(isWanted), ...this.#failed.find(isWanted)], limit).map((entry) =>
      shown(entry, entry.failures?.get(name)),
    );
  }

  /** Newest first. */
  ofProvider(provider: string, limit: number): readonly ObjectCall[] {
    const isWanted = ({ call }: Entry): boolean => call.provider === provider;
    const all = [
      ...this.#succeeded.find(isWanted),
      ...this.#failed.find(isWanted),
      ...[...this.#probes.values()].filter(isWanted),
    ];
    return newestFirst(all, limit).map((entry) => shown(entry, firstOf(entry.failures)));
  }
}

function bounded(call: JournalCall): JournalCall {
  const ids = call.cloudRequestIds.slice(0, IDS).map((id) => beginningOf(id, ID_LENGTH));
  return { ...call, ...keptOf(call), cloudRequestIds: ids };
}

function shown({ call, subjects }: Entry, failure: ItemFailure | undefined): ObjectCall {
  return { ...call, ...failure, objectCount: subjects.names.length };
}

function firstOf(failures: Entry["failures"]): ItemFailure | undefined {
  const [first] = failures?.values() ?? [];
  return first;
}

function newestFirst(entries: readonly Entry[], limit: number): readonly Entry[] {
  return entries.toSorted((left, right) => right.call.startMs - left.call.startMs).slice(0, limit);
}

/** Drops the oldest calls above the limits. */
class Ring {
  readonly #entries: Entry[] = [];
  #names = 0;

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#names += entry.subjects.names.length;
    while (this.#entries.length > CALLS || (this.#names > NAMES && this.#entries.length > 1)) {
      this.#names -= this.#entries.shift()?.subjects.names.length ?? 0;
    }
  }

  find(isWanted: (entry: Entry) => boolean): readonly Entry[] {
    return this.#entries.filter(isWanted);
  }
}
