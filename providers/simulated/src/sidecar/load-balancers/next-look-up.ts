/** Answers every question that was there when it began; fails for all of them. */
export type LookUp<Question, Answer> = (
  questions: readonly Question[],
  /** Aborted when no caller waits any longer. */
  signal: AbortSignal,
) => Promise<(question: Question) => Answer>;

/** Those who wait for the same look-up. */
interface Round<Question, Answer> {
  readonly questions: Set<Question>;
  readonly end: AbortController;
  readonly answers: Promise<(question: Question) => Answer>;
}

/**
 * Only a look-up that began after the question is exact for it. So one runs at a time, and all who ask meanwhile share
 * the next.
 */
export class NextLookUp<Question extends object, Answer> {
  readonly #lookUp: LookUp<Question, Answer>;
  readonly #gather: (signal: AbortSignal) => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();
  #next: Round<Question, Answer> | undefined;

  /** @param gather the time before each look-up in which those that come together find each other */
  constructor(lookUp: LookUp<Question, Answer>, gather: (signal: AbortSignal) => Promise<void>) {
    this.#lookUp = lookUp;
    this.#gather = gather;
  }

  /** The answer of a look-up that begins after this call, or the signal's reason as soon as that is aborted. */
  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const round = (this.#next ??= this.#newRound());
    round.questions.add(question);
    const aborted = Promise.withResolvers<never>();
    const giveUp = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return (await Promise.race([round.answers, aborted.promise]))(question);
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#leave(round, question);
    }
  }

  #leave(round: Round<Question, Answer>, question: Question): void {
    round.questions.delete(question);
    if (round.questions.size > 0) return;
    // Who asks from now on must not get the end of a round that everybody has left.
    if (this.#next === round) this.#next = undefined;
    round.end.abort();
  }

  #newRound(): Round<Question, Answer> {
    const questions = new Set<Question>();
    const end = new AbortController();
    const answers = this.#run(this.#last, questions, end.signal);
    // All callers may have left when it fails; the next round follows anyway.
    this.#last = answers.catch(() => undefined);
    return { questions, end, answers };
  }

  async #run(last: Promise<unknown>, questions: ReadonlySet<Question>, signal: AbortSignal) {
    await last;
    await this.#gather(signal);
    signal.throwIfAborted();
    this.#next = undefined;
    return this.#lookUp([...questions], signal);
  }
}
