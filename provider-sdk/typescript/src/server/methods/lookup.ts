import { randomUUID } from "node:crypto";
import type { ReadContext } from "../../definition/call-context.ts";
import type { Absent, NotOwned } from "../../results/results.ts";
import { classifyError } from "../../results/classify.ts";
import { permittedError } from "../../results/status.ts";
import { ProviderError } from "../../results/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import { Limit } from "../../util/parallel.ts";
import { SharedTask } from "../../state/shared-task.ts";
import { absentOutcome, type CommonOutcome, notOwnedOutcome, refuseAbsence, unknownOutcome } from "./results.ts";
import type { CallRecorder } from "../../telemetry/call-recorder.ts";
import { withinContext } from "../current-context.ts";

/** What was learned about one object. */
export type LookUpResult<Found> =
  | { readonly kind: "found"; readonly found: Found; readonly readTime: Date }
  | { readonly kind: "common"; readonly outcome: CommonOutcome; readonly readTime: Date };

type Answer<Found> = Found | Absent | NotOwned;

/** The handlers of a provider, one of the two. */
export interface LookUpHandlers<Ref, Found> {
  readonly get?: ((ref: Ref, context: ReadContext) => Promise<Answer<Found>> | Answer<Found>) | undefined;
  readonly getMany?:
    | ((
        refs: readonly Ref[],
        context: ReadContext,
      ) => Promise<readonly (Answer<Found> | Error)[]> | readonly (Answer<Found> | Error)[])
    | undefined;
}

/** What a look-up needs. */
export interface LookUpOptions<Ref, Found> {
  readonly handlers: LookUpHandlers<Ref, Found>;
  /** Forbids an absence for reasons of its own. */
  readonly refuseAbsence?: (ref: Ref, absent: Absent) => ProviderError | undefined;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** One call's questions. */
export interface LookUpCall<Ref> {
  /** By a key that equal questions share. */
  readonly refs: ReadonlyMap<string, Ref>;
  readonly recorder: CallRecorder;
  readonly maxDataAgeMs: number;
}

/** Single look-ups at once, over all calls. */
const maxSingleLookUps = 16;

interface Flight<Found> {
  readonly startedMs: number;
  readonly task: SharedTask<LookUpResult<Found>>;
}

/** Asks a provider about many objects, together or one by one, so that one object's failure is not the others'. */
export class BatchLookUp<
  Ref,
  Found extends { readonly kind?: string | undefined; readonly readTime?: Date | undefined },
> {
  readonly #options: LookUpOptions<Ref, Found>;
  readonly #limit = new Limit(maxSingleLookUps);
  readonly #flights = new Map<string, Flight<Found>>();

  constructor(options: LookUpOptions<Ref, Found>) {
    this.#options = options;
  }

  /** One result for each key. */
  async ask(call: LookUpCall<Ref>): Promise<ReadonlyMap<string, LookUpResult<Found>>> {
    if (call.refs.size === 0) return new Map();
    const { get, getMany } = this.#options.handlers;
    if (getMany) return this.#askTogether(call, getMany);
    if (get) return this.#askEach(call, get);
    throw new TypeError("the provider has neither get nor getMany");
  }

  async #askEach(
    call: LookUpCall<Ref>,
    get: NonNullable<LookUpHandlers<Ref, Found>["get"]>,
  ): Promise<ReadonlyMap<string, LookUpResult<Found>>> {
    const entries = [...call.refs].map(async ([key, ref]) => {
      const task = this.#shared(key, call, (signal) => this.#askOne(ref, call, get, signal));
      return [key, await task.join(call.recorder.signal)] as const;
    });
    return new Map(await Promise.all(entries));
  }

  /** Joins a look-up of the same object that another call began, if its data will be young enough. */
  #shared(
    key: string,
    call: LookUpCall<Ref>,
    start: (signal: AbortSignal) => Promise<LookUpResult<Found>>,
  ): SharedTask<LookUpResult<Found>> {
    const nowMs = this.#options.nowMs();
    const current = this.#flights.get(key);
    if (current && !current.task.abandoned && nowMs - current.startedMs < call.maxDataAgeMs) return current.task;
    const flight = { startedMs: nowMs, task: new SharedTask(start) };
    this.#flights.set(key, flight);
    void this.#forgetWhenSettled(key, flight);
    return flight.task;
  }

  async #forgetWhenSettled(key: string, flight: Flight<Found>): Promise<void> {
    await flight.task.settled;
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }

  async #askOne(
    ref: Ref,
    call: LookUpCall<Ref>,
    get: NonNullable<LookUpHandlers<Ref, Found>["get"]>,
    signal: AbortSignal,
  ): Promise<LookUpResult<Found>> {
    const recorder = call.recorder.fork(signal);
    const started = { time: new Date(this.#options.nowMs()) };
    const answer = await settle(() =>
      this.#limit.run(signal, async () => {
        started.time = new Date(this.#options.nowMs());
        const context = recorder.read(call.maxDataAgeMs);
        return withinContext(context, () => get(ref, context));
      }),
    );
    const noted = answer instanceof Error ? this.#note(answer, recorder) : answer;
    return this.#toResult(ref, noted, recorder.errors, started.time);
  }

  async #askTogether(
    { refs, recorder, maxDataAgeMs }: LookUpCall<Ref>,
    getMany: NonNullable<LookUpHandlers<Ref, Found>["getMany"]>,
  ): Promise<ReadonlyMap<string, LookUpResult<Found>>> {
    const readTime = new Date(this.#options.nowMs());
    const context = recorder.read(maxDataAgeMs);
    const answers = await withinContext(context, () => getMany([...refs.values()], context));
    if (answers.length !== refs.size) {
      const message = `getMany answered ${answers.length} items to ${refs.size} questions`;
      throw new ProviderError("INVARIANT_BROKEN", message);
    }
    // Every error is recorded before any absence is evaluated.
    const noted = answers.map((answer) => (answer instanceof Error ? this.#note(answer, recorder) : answer));
    return new Map(
      [...refs].map(([key, ref], index) => {
        const answer = noted[index] ?? new ProviderError("INVARIANT_BROKEN", "getMany answered nothing for an item");
        return [key, this.#toResult(ref, answer, recorder.errors, readTime)] as const;
      }),
    );
  }

  #toResult(
    ref: Ref,
    answer: Answer<Found> | ProviderError,
    errors: readonly ProviderError[],
    readTime: Date,
  ): LookUpResult<Found> {
    if (answer instanceof ProviderError) return { kind: "common", outcome: unknownOutcome(answer), readTime };
    const problem = answerFault(answer);
    if (problem) return { kind: "common", outcome: unknownOutcome(problem), readTime };
    if (isNotOwned(answer)) return { kind: "common", outcome: notOwnedOutcome(answer), readTime };
    if (!isAbsent(answer)) return { kind: "found", found: answer, readTime: answer.readTime ?? readTime };
    const refused = refuseAbsence(answer, errors) ?? this.#options.refuseAbsence?.(ref, answer);
    if (refused) return { kind: "common", outcome: unknownOutcome(refused), readTime };
    return { kind: "common", outcome: absentOutcome(answer, readTime), readTime: answer.observeTime ?? readTime };
  }

  #note(thrown: Error, recorder: CallRecorder): ProviderError {
    const correlationId = randomUUID();
    const { error: found, masked } = classifyError(thrown, { mutation: false, correlationId });
    const error = permittedError(found, recorder.method, "item");
    recorder.noteError(error);
    if (masked || error !== found)
      this.#options.log.error("A look-up failed in a way the provider did not expect", {
        correlationId,
        error: masked ? found.cause : thrown,
      });
    return error;
  }
}

/** The error for an invalid result: types do not constrain a vendor's JavaScript. */
const answerFault = (answer: unknown): ProviderError | undefined => {
  if (typeof answer !== "object" || answer === null)
    return new ProviderError(
      "INVARIANT_BROKEN",
      `the provider answered ${String(answer)}; what does not exist is said with absent()`,
    );
  const untimely = ["readTime", "observeTime"].find((name) => !isTime(Reflect.get(answer, name)));
  return untimely === undefined
    ? undefined
    : new ProviderError("INVARIANT_BROKEN", `the provider's ${untimely} is no Date`);
};

const isTime = (value: unknown): boolean =>
  value === undefined || (value instanceof Date && !Number.isNaN(value.getTime()));

const isAbsent = (answer: { readonly kind?: string | undefined }): answer is Absent => answer.kind === "absent";
const isNotOwned = (answer: { readonly kind?: string | undefined }): answer is NotOwned => answer.kind === "notOwned";

/** An error as a value. */
const settle = async <Value>(work: () => Promise<Value>): Promise<Value | Error> => {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error("the handler threw something that is no Error", { cause: error });
  }
};
