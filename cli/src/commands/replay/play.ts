import { createHash, randomUUID } from "node:crypto";
import { HIDDEN } from "@cloudwire/proto/secrets";
import { setTimeout as sleep } from "node:timers/promises";
import { at, isRecord, type Json } from "../../client/json.ts";
import { compareResponses, type FieldDifference, normalized } from "./compare.ts";
import { type Expectation, expected } from "./expectation.ts";
import { REQUEST_NAMES } from "./field-treatments.ts";
import { type Method, methodNamed } from "./methods.ts";
import { Names } from "./names.ts";
import type { LiveCall, Outcome, ProviderClient } from "./live-provider.ts";
import type { RecordedCall, RecordedEnd, Recording } from "./recording.ts";
import { canonical, changed } from "./walk.ts";

export interface PlayOptions {
  /** Calls are sent no sooner than they were recorded. @default as soon as those have ended that had ended before them */
  readonly isPaced: boolean;
  /** Goes on after a difference. */
  readonly all: boolean;
  /** How long a read is retried while its response differs. */
  readonly retryTimeoutMs: number;
  /** Number of the last call that is played. */
  readonly until: number | undefined;
  readonly expectations: readonly Expectation[];
  /** Runs before the call of that number, to repeat a manual change in the cloud. */
  readonly before: (call: number) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface Difference extends FieldDifference {
  readonly call: number;
  readonly line: number;
  readonly method: string;
}

/** A call that was played and says nothing. */
export interface Uncompared {
  readonly call: number;
  readonly method: string;
  readonly why: string;
}

/** What came of playing a recording. Has no times: two runs that do not differ have equal ones. */
export interface PlayReport {
  readonly program: string;
  readonly provider: string;
  readonly played: number;
  readonly compared: number;
  readonly uncompared: readonly Uncompared[];
  readonly differences: readonly Difference[];
  /** Digest of all compared responses, with recorded names: equal runs have equal digests. */
  readonly digest: string;
}

/** How long after a difference of an eventually consistent read it is asked again. */
const AGAIN_MS = 250;

/** Longest wait for the end of a call that has no deadline. */
const STREAM_END_MS = 2000;

/** Plays a recording against a provider: calls in their recorded order, as many at once as then. */
export async function play(recording: Recording, client: ProviderClient, options: PlayOptions): Promise<PlayReport> {
  return new Player(recording, client, options).run();
}

interface Sent {
  readonly method: Method;
  readonly request: Json;
  readonly live: LiveCall;
}

class Player {
  readonly #recording: Recording;
  readonly #client: ProviderClient;
  readonly #options: PlayOptions;
  #names = new Names();
  readonly #requestIds = new Map<string, string>();
  readonly #sent = new Map<number, Sent>();
  readonly #uncompared: Uncompared[] = [];
  readonly #differences: Difference[] = [];
  readonly #digest = createHash("sha256");
  #compared = 0;

  constructor(recording: Recording, client: ProviderClient, options: PlayOptions) {
    this.#recording = recording;
    this.#client = client;
    this.#options = options;
  }

  async run(): Promise<PlayReport> {
    const { until = Infinity, all, signal } = this.#options;
    const startedMs = performance.now();
    for (const { kind, call } of this.#recording.events) {
      if (call.call > until) continue;
      signal.throwIfAborted();
      if (kind === "start") await this.#begin(call, startedMs);
      else if (call.end !== undefined) await this.#end(expected(call, this.#options.expectations), call.end);
      if (this.#differences.length > 0 && !all) break;
    }
    this.#giveUpOthers();
    return this.#report();
  }

  async #begin(call: RecordedCall, startedMs: number): Promise<void> {
    const { isPaced, before, signal } = this.#options;
    if (isPaced) await sleep(Math.max(0, startedMs + call.atMs - performance.now()), undefined, { signal });
    await before(call.call);
    const method = methodNamed(call.method);
    const request = this.#requestOf(call, method);
    this.#sent.set(call.call, { method, request, live: this.#send(call, method, request) });
  }

  #send(call: RecordedCall, method: Method, request: Json): LiveCall {
    const requestId = this.#requestId(call.requestId);
    return this.#client.call(method, request, { requestId, timeoutMs: call.timeoutMs });
  }

  async #end(call: RecordedCall, recorded: RecordedEnd): Promise<void> {
    const sent = this.#sent.get(call.call);
    this.#sent.delete(call.call);
    const { end = recorded } = call;
    if (sent === undefined) return;
    if (end.isGivenUp || sent.method.isStream) {
      sent.live.giveUp();
      await Promise.race([sent.live.ended, sleep(STREAM_END_MS, undefined, { ref: false })]);
      return this.#leave(
        call,
        sent.method.isStream ? "the times of a stream's messages depend on the cloud" : "the controller canceled it",
      );
    }
    const outcome = await sent.live.ended;
    if (end.code !== "OK" && end.details.length === 0 && end === recorded)
      return this.#leave(call, `no provider responded in the recording: ${end.code}`);
    await this.#compare(call, end, sent, outcome);
  }

  async #compare(call: RecordedCall, end: RecordedEnd, sent: Sent, first: Outcome): Promise<void> {
    const { retryTimeoutMs, signal } = this.#options;
    const giveUpMs = performance.now() + retryTimeoutMs;
    let outcome = first;
    for (;;) {
      const names = this.#names.fork();
      const differences = compareOutcomes(sent.method, end, outcome, names);
      const isOver = sent.method.isChange || performance.now() >= giveUpMs;
      if (differences.length === 0 || isOver) {
        // Even with a difference: names that were new to both sides stay mapped.
        this.#names = names;
        return this.#note(call, sent.method, outcome, differences);
      }
      await sleep(AGAIN_MS, undefined, { signal });
      outcome = await this.#send(call, sent.method, sent.request).ended;
    }
  }

  #note(call: RecordedCall, method: Method, outcome: Outcome, differences: readonly FieldDifference[]): void {
    this.#compared++;
    const answer = outcome.response && normalized(method.responseType, outcome.response, this.#names);
    this.#digest.update(`${canonical([call.call, call.method, outcome.code, reasonOf(outcome), answer])}\n`);
    const place = { call: call.call, line: call.line, method: call.method };
    this.#differences.push(...differences.map((difference) => ({ ...place, ...difference })));
  }

  #leave({ call, method }: RecordedCall, why: string): void {
    this.#uncompared.push({ call, method, why });
  }

  #giveUpOthers(): void {
    const isWhole = this.#differences.length === 0 || this.#options.all;
    for (const [call, { live, method }] of this.#sent) {
      live.giveUp();
      if (isWhole) this.#uncompared.push({ call, method: method.name, why: "it did not end in the recording" });
    }
  }

  #report(): PlayReport {
    const { program, provider } = this.#recording;
    return {
      program,
      provider,
      played: this.#compared + this.#uncompared.length,
      compared: this.#compared,
      uncompared: this.#uncompared,
      differences: this.#differences,
      digest: `sha256:${this.#digest.digest("hex")}`,
    };
  }

  /** In the words of this run, and of this moment: what was a minute old then is a minute old now. */
  #requestOf(call: RecordedCall, method: Method): Json {
    const laterMs = Date.now() - call.timeMs;
    const tables = { messages: TIMES, fields: REQUEST_NAMES };
    const named = changed(method.requestType, call.request, tables, (value, treatment) => {
      if (treatment.kind === "name") return this.#names.live(treatment.space, value) ?? value;
      const movedMs = typeof value === "string" ? Date.parse(value) + laterMs : Number.NaN;
      // What is no time in the recording is sent as it is.
      return Number.isNaN(movedMs) ? value : new Date(movedMs).toISOString();
    });
    const change = at(named, "change");
    const request = isRecord(change) ? { ...named, change: this.#fresh(change) } : named;
    return withoutHidden(request);
  }

  /** A provider may repeat its response to a known request ID. */
  #fresh(change: Json): Json {
    const { requestId } = change;
    return typeof requestId === "string" ? { ...change, requestId: this.#requestId(requestId) } : change;
  }

  #requestId(recorded: string): string {
    const known = this.#requestIds.get(recorded) ?? randomUUID();
    this.#requestIds.set(recorded, known);
    return known;
  }
}

const TIMES = { "google.protobuf.Timestamp": { kind: "presence", why: "shifted with the run" } } as const;

function compareOutcomes(
  { responseType }: Method,
  wanted: RecordedEnd,
  got: Outcome,
  names: Names,
): readonly FieldDifference[] {
  if (wanted.code !== got.code) {
    const received = got.code === "OK" ? "OK" : `${got.code} ${reasonOf(got)}: ${got.message}`;
    return [{ field: "code", wanted: wanted.code, got: received }];
  }
  const [wantedReason, gotReason] = [reasonOf(wanted), reasonOf(got)];
  if (wantedReason !== gotReason) return [{ field: "reason", wanted: wantedReason, got: gotReason }];
  if (wanted.response === undefined || got.response === undefined) return [];
  return compareResponses(responseType, wanted.response, got.response, names);
}

/** Domain and reason; the rest of an error is text, and how long to wait. "": the transport said it. */
function reasonOf({ details }: { readonly details: readonly Json[] }): string {
  const info = details.find((detail) => detail["@type"] === "google.rpc.ErrorInfo");
  return info === undefined ? "" : `${String(at(info, "domain"))}/${String(at(info, "reason"))}`;
}

/** Secrets are redacted in recordings, so they are omitted. */
function withoutHidden(json: Json): Json {
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) => {
      if (value === HIDDEN) return [];
      return [[key, isRecord(value) ? withoutHidden(value) : value]];
    }),
  );
}
