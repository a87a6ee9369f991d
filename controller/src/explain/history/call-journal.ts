import { beginningOf } from "../../util/text.ts";
import {
  type ItemFailure,
  itemFailures,
  keptOf,
  type Subjects,
  subjectsOf,
} from "../../provider/observers/call-subjects.ts";
import type { CallRecord, CallSink } from "../../provider/observers/observed-caller.ts";

/** A call to a provider as it is remembered. Nothing of its request but whose it was. */
export interface JournalCall {
  /** Wall clock, when it was sent. */
  readonly startMs: number;
  /** Operator's name. */
  readonly provider: string;
  readonly method: string;
  readonly durationMs: number;
  /** OK, or the canonical gRPC code. */
  readonly code: string;
  /** "": none was given. */
  readonly reason: string;
  readonly message: string;
  readonly cloudRequestIds: readonly string[];
}

interface Entry {
  readonly call: JournalCall;
  readonly subjects: Subjects;
  readonly failures: ReadonlyMap<string, ItemFailure> | undefined;
}

/** A call as it went for one object, and for how many it was made. */
export interface ObjectCall extends JournalCall {
  readonly objectCount: number;
}

/** Calls that went well, and calls that failed: many of one kind push none of the other out. */
const CALLS = 500;

/** Names of objects that calls of one kind are remembered for: a word each. */
const NAMES = 60_000;

/** Of a cloud, for one call: as many and as long as the contract allows. */
const IDS = 5;
const ID_LENGTH = 128;

/** Said every few seconds: of these only the last one of each provider. */
const PROBES: ReadonlySet<string> = new Set(["GetProviderInfo", "GetProviderStatus"]);

/** The last calls to providers, found by what they were for. In memory, some megabytes at most; costs a few words a call. */
export class CallJournal implements CallSink {
  readonly #well = new Ring();
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
    else if (call.code === "OK" && failures === undefined) this.#well.add(entry);
    else this.#failed.add(entry);
  }

  /** Those for one object, newest first. */
  of(kind: Exclude<Subjects["kind"], "provider">, name: string, limit: number): readonly ObjectCall[] {
    const isIts = ({ subjects }: Entry): boolean => subjects.kind === kind && subjects.names.includes(name);
    return newestFirst([...this.#well.find(isIts), ...this.#failed.find(isIts)], limit).map((entry) =>
      shown(entry, entry.failures?.get(name)),
    );
  }

  /** Those to one provider, newest first, whatever they were for. */
  ofProvider(provider: string, limit: number): readonly ObjectCall[] {
    const isIts = ({ call }: Entry): boolean => call.provider === provider;
    const all = [...this.#well.find(isIts), ...this.#failed.find(isIts), ...[...this.#probes.values()].filter(isIts)];
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

/** Forgets the oldest when there are too many, or when they are for too many. */
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
