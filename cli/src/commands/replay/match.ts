import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { type Json, at, isRecord } from "../../client/json.ts";
import { MATCH_FIELDS, MATCH_MESSAGES, SERVED_NAMES } from "./field-treatments.ts";
import { BATCHES, type Batch, type Method, methodNamed, recordsAt } from "./methods.ts";
import { Names } from "./names.ts";
import type { RecordedCall, RecordedEnd, Recording } from "./recording.ts";
import { type TreatmentTables, canonical, changed } from "./walk.ts";

/** What becomes of a request to a recording that is served. */
export type Match =
  | {
      readonly kind: "answer";
      readonly call: RecordedCall;
      readonly end: RecordedEnd;
      readonly tookMs: number;
      readonly missing: readonly string[];
    }
  /** It was never made; `nearest` says which was most like it. */
  | { readonly kind: "unknown"; readonly nearest: string };

/** One item of a batch that was recorded. */
interface Item {
  readonly call: RecordedCall;
  readonly item: Json;
  /** undefined: the call as a whole failed. */
  readonly result: Json | undefined;
}

const MATCH_TABLES: TreatmentTables = { messages: MATCH_MESSAGES, fields: MATCH_FIELDS };
const SERVED_TABLES: TreatmentTables = { messages: {}, fields: SERVED_NAMES };

/** Reason and domain of the error for a request that was never made. */
export const NOT_RECORDED = { reason: "NOT_RECORDED", domain: "replay.cloudwire.dev" } as const;
const FAILED_PRECONDITION = 9;

/** Finds the recorded responses to the requests of a controller. */
export class Matcher {
  readonly #calls: readonly RecordedCall[];
  readonly #answers = new Map<string, Answers<RecordedCall>>();
  readonly #items = new Map<string, Answers<Item>>();
  readonly #progress: Progress;
  readonly #names = new Names();

  constructor({ calls }: Recording) {
    this.#calls = calls.filter(({ end }) => end !== undefined && !end.isGivenUp);
    const changes = this.#calls.filter(isRealChange);
    this.#progress = new Progress(changes.map(({ line }) => line));
    for (const call of this.#calls) {
      const batch = BATCHES[call.method];
      if (batch === undefined)
        added(this.#answers, keyOf(call.method, call.request)).add({ line: call.line, value: call });
      else this.#addItems(call, batch);
    }
  }

  match(name: MethodName, request: Json): Match {
    const batch = BATCHES[name];
    return batch === undefined ? this.#single(name, request) : this.#batch(name, batch, request);
  }

  /** The message as the caller has to see it: in its own names. */
  translated(method: Method, response: Json): Json {
    const named = changed(method.responseType, response, SERVED_TABLES, (value, treatment) =>
      treatment.kind === "name" ? (this.#names.live(treatment.space, value) ?? value) : value,
    );
    // Ownership tags have vendor-specific keys; their values are names.
    const tagged = (inner: unknown): unknown => {
      if (Array.isArray(inner)) return inner.map(tagged);
      if (!isRecord(inner)) return inner;
      return Object.fromEntries(
        Object.entries(inner).map(([key, value]) => [
          key,
          key === "tags" && isRecord(value) ? this.#tags(value) : tagged(value),
        ]),
      );
    };
    const whole = tagged(named);
    return isRecord(whole) ? whole : named;
  }

  #tags(tags: Json): Json {
    const spaces = ["cluster", "service", "spec", "nodes"];
    const own = (value: unknown): unknown =>
      spaces.map((space) => this.#names.live(space, value)).find((name) => name !== undefined) ?? value;
    return Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, own(value)]));
  }

  #addItems(call: RecordedCall, { items, key }: Batch): void {
    const results = recordsAt(call.end?.response ?? {}, "results");
    for (const [index, item] of recordsAt(call.request, items).entries()) {
      const value = { call, item, result: results[index] };
      added(this.#items, `${call.method} ${key(item)}`).add({ line: call.line, value });
    }
  }

  #single(name: MethodName, request: Json): Match {
    const found = this.#take(name, this.#answers.get(keyOf(name, request)), request);
    if (found === undefined) return { kind: "unknown", nearest: this.#nearest(name, request) };
    const call = found.value;
    this.#learn(name, call.request, request);
    return answered(call, call.end?.response, []);
  }

  #batch(name: MethodName, { items, key, error }: Batch, request: Json): Match {
    const found = recordsAt(request, items).map((item) => ({
      item,
      place: this.#take(name, this.#items.get(`${name} ${key(item)}`), request),
    }));
    const known = found.flatMap(({ place }) => (place === undefined ? [] : [place.value]));
    const [first] = known;
    if (first === undefined) return { kind: "unknown", nearest: this.#nearest(name, request) };
    this.#learn(name, first.call.request, request);
    const failed = known.find(({ result }) => result === undefined);
    if (failed !== undefined) return answered(failed.call, undefined, []);
    const missing = found.flatMap(({ item, place }) => (place === undefined ? [key(item)] : []));
    const results = found.map(
      ({ place }) => place?.value.result ?? { [error]: notRecorded("the item is not in the recording") },
    );
    return answered(first.call, { ...first.call.end?.response, results }, missing);
  }

  #take<Value>(name: MethodName, answers: Answers<Value> | undefined, request: Json): Place<Value> | undefined {
    const isChange = methodRules[name].change && at(request, "change", "validateOnly") !== true;
    // How the provider is has nothing to do with what was changed.
    const isFree = isChange || !methodRules[name].callsCloud;
    const place = answers?.take((line) => isFree || this.#progress.mayGive(line));
    if (place !== undefined && isChange) this.#progress.changed(place.line);
    return place;
  }

  /** What the caller calls what the recording calls otherwise. */
  #learn(name: MethodName, recorded: Json, live: Json): void {
    const { requestType } = methodNamed(name);
    const [wanted, got] = [recorded, live].map((json) => namesIn(requestType, json));
    for (const [index, { space, value }] of (wanted ?? []).entries()) {
      const other = got?.[index];
      if (other?.space === space) this.#names.rebind(space, value, other.value);
    }
  }

  #nearest(name: MethodName, request: Json): string {
    const asked = masked(name, request);
    const others = this.#calls
      .filter(({ method }) => method === name)
      .map((call) => ({ call, differences: flatDifferences(masked(name, call.request), asked) }))
      .toSorted((left, right) => left.differences.length - right.differences.length);
    const [nearest] = others;
    if (nearest === undefined) return `the recording has no ${name}`;
    const { call, differences } = nearest;
    const shown = differences
      .slice(0, 3)
      .map(({ path, wanted, got }) => `${path} was ${shownValue(wanted)} and is ${shownValue(got)}`);
    const more = differences.length > 3 ? `, and ${differences.length - 3} more` : "";
    return `the nearest is call ${call.call} (line ${call.line}): ${shown.join(", ")}${more}`;
  }
}

function answered(call: RecordedCall, response: Json | undefined, missing: readonly string[]): Match {
  const { end } = call;
  if (end === undefined) throw new Error(`call ${call.call} has no end`);
  return { kind: "answer", call, end: { ...end, response }, tookMs: Math.max(0, end.atMs - call.atMs), missing };
}

/** The error of one item that was never asked for. */
function notRecorded(message: string): Json {
  return { code: FAILED_PRECONDITION, ...NOT_RECORDED, message };
}

/** What is left of a request when all is taken out that differs from run to run. */
function masked(name: MethodName, request: Json): Json {
  return changed(methodNamed(name).requestType, request, MATCH_TABLES, () => undefined);
}

function keyOf(name: MethodName, request: Json): string {
  // Which stream it was does not matter: hints are hints.
  return methodRules[name].stream ? name : `${name} ${canonical(masked(name, request))}`;
}

function namesIn(type: string, json: Json): readonly { readonly space: string; readonly value: unknown }[] {
  const found: { readonly space: string; readonly value: unknown }[] = [];
  changed(type, json, MATCH_TABLES, (value, treatment) => {
    if (treatment.kind === "name") found.push({ space: treatment.space, value });
    return value;
  });
  return found;
}

function isRealChange({ method, request, end }: RecordedCall): boolean {
  return methodRules[method].change && at(request, "change", "validateOnly") !== true && end?.code === "OK";
}

function added<Value>(map: Map<string, Answers<Value>>, key: string): Answers<Value> {
  const answers = map.get(key) ?? new Answers<Value>();
  map.set(key, answers);
  return answers;
}

function shownValue(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

/** One place at which two values differ. */
export interface FlatDifference {
  readonly path: string;
  readonly wanted: unknown;
  readonly got: unknown;
}

/** Everywhere that two JSON values differ, down to their leaves. */
function flatDifferences(wanted: unknown, got: unknown): readonly FlatDifference[] {
  const left = new Map(leaves(wanted, ""));
  const right = new Map(leaves(got, ""));
  const paths = [...new Set([...left.keys(), ...right.keys()])];
  return paths
    .filter((path) => left.get(path) !== right.get(path))
    .map((path) => ({ path, wanted: left.get(path), got: right.get(path) }));
}

function leaves(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => leaves(item, `${path}[${index}]`));
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, item]) => leaves(item, path === "" ? key : `${path}.${key}`));
}

/** One answer and where in the recording it was asked for. */
export interface Place<Value> {
  readonly line: number;
  readonly value: Value;
}

/** Answers to equal questions, in their order. */
export class Answers<Value> {
  readonly #places: Place<Value>[] = [];
  #next = 0;

  add(place: Place<Value>): void {
    this.#places.push(place);
  }

  /** The one that comes next, unless it must not yet be given; then the last one again. */
  take(mayGive: (line: number) => boolean): Place<Value> | undefined {
    const last = this.#places[this.#next - 1];
    const next = this.#places[this.#next];
    if (next === undefined || (last !== undefined && !mayGive(next.line))) return last;
    this.#next++;
    return next;
  }
}

/**
 * How far a run has come in a recording: an answer is not given before the changes that had been made before it was asked for. So a read
 * that is made more often than then does not see what is not yet so. A change that was made later counts for those before it, for
 * no two runs make the same steps.
 */
export class Progress {
  readonly #changes: readonly number[];
  #line = 0;

  /** @param changes lines of the changes, ascending */
  constructor(changes: readonly number[]) {
    this.#changes = changes;
  }

  mayGive(line: number): boolean {
    return !this.#changes.some((change) => change > this.#line && change < line);
  }

  changed(line: number): void {
    this.#line = Math.max(this.#line, line);
  }
}
