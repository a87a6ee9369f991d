import { isDeepStrictEqual } from "node:util";
import { type Exchange, isRead, type RecordedStep, type Recording, START } from "./recording.ts";

/** A request as it is compared with recorded ones. */
export type Asked = Pick<Exchange, "ask" | "microversion" | "sent">;

/** Requests between two writes: in whatever order, as often as one likes, for they change nothing. */
interface Round {
  /** Recorded answers to each request, in their order, and how many of them were given. */
  readonly reads: readonly Read[];
  /** What ends the round. Undefined: the step ends with it. */
  readonly write: Exchange | undefined;
}

interface Read {
  readonly asked: Asked;
  readonly answers: readonly Exchange[];
  given: number;
}

/** What to do when the requests of the provider are not those of a recording. */
const ADVICE = "if the provider is right, record again: npm run test:openstack";

/**
 * A recording, played to a provider that makes the recorded requests: writes in their order, reads between them in any. Each read of the same thing gets
 * the next recorded answer, and the last one again: states go on as they did, however often they are looked at.
 */
export class Playback {
  readonly #recording: Recording;
  readonly #readsAtStart: readonly Read[];
  readonly #problems = new Set<string>();
  #stepIndex = -1;
  #rounds: readonly Round[] = [];
  #roundIndex = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
    const start = recording.steps.find(({ step }) => step === START);
    this.#readsAtStart = readsOf(start?.exchanges ?? []);
    this.#stepIndex = recording.steps.findIndex(({ step }) => step === START);
  }

  /** What was asked otherwise than recorded, for people. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** From now on the requests of this step are expected. */
  begin(step: string): void {
    this.#endStep();
    this.#stepIndex += 1;
    const recorded = this.#recording.steps[this.#stepIndex];
    if (recorded?.step !== step) {
      this.#problems.add(`${this.#where()} was recorded where the scenario now has “${step}”: ${ADVICE}`);
    }
    this.#rounds = roundsOf(recorded?.exchanges ?? []);
    this.#roundIndex = 0;
  }

  /** Expects no further requests. */
  end(): void {
    this.#endStep();
    const next = this.#recording.steps[this.#stepIndex + 1];
    if (next) this.#problems.add(`step “${next.step}” was recorded and did not take place: ${ADVICE}`);
  }

  /** The recorded answer; undefined: there is none, and `problems` says so. */
  answer(asked: Asked): Exchange | undefined {
    const repeated = this.#readsAtStart.find((read) => isSame(read.asked, asked));
    if (repeated) return nextOf(repeated);
    const found = isRead(asked) ? this.#read(asked) : this.#write(asked);
    if (found === undefined) this.#problems.add(this.#unknown(asked));
    return found;
  }

  #read(asked: Asked): Exchange | undefined {
    const read = this.#rounds[this.#roundIndex]?.reads.find((each) => isSame(each.asked, asked));
    return read && nextOf(read);
  }

  #write(asked: Asked): Exchange | undefined {
    const round = this.#rounds[this.#roundIndex];
    if (round?.write === undefined || !isSame(round.write, asked)) return undefined;
    this.#tellUnasked(round);
    this.#roundIndex += 1;
    return round.write;
  }

  #endStep(): void {
    for (const round of this.#rounds.slice(this.#roundIndex)) {
      this.#tellUnasked(round);
      if (round.write) this.#problems.add(`${this.#where()}: ${round.write.ask} was recorded and not asked: ${ADVICE}`);
    }
    this.#rounds = [];
  }

  #tellUnasked({ reads }: Round): void {
    for (const { asked } of reads.filter(({ given }) => given === 0)) {
      this.#problems.add(`${this.#where()}: ${asked.ask} was recorded and not asked: ${ADVICE}`);
    }
  }

  #unknown(asked: Asked): string {
    const round = this.#rounds[this.#roundIndex];
    const expected = [...(round?.reads ?? []).map((read) => read.asked), ...(round?.write ? [round.write] : [])];
    const listed = expected.map((each) => `\n  ${shown(each)}`).join("");
    return `${this.#where()}: the provider asked what was not recorded:\n  ${shown(asked)}\nexpected was one of:${listed || " none"}\n${ADVICE}`;
  }

  #where(): string {
    const step = this.#recording.steps[this.#stepIndex]?.step ?? "no step";
    return `scenario “${this.#recording.scenario}”, step “${step}”`;
  }
}

function nextOf(read: Read): Exchange | undefined {
  const answer = read.answers[Math.min(read.given, read.answers.length - 1)];
  read.given += 1;
  return answer;
}

function isSame(left: Asked, right: Asked): boolean {
  return left.ask === right.ask && left.microversion === right.microversion && isDeepStrictEqual(left.sent, right.sent);
}

function shown({ ask, microversion, sent }: Asked): string {
  return [ask, microversion ?? "", sent === undefined ? "" : JSON.stringify(sent)].filter(Boolean).join(" ");
}

function readsOf(exchanges: readonly Exchange[]): readonly Read[] {
  const reads: (Read & { readonly answers: Exchange[] })[] = [];
  for (const exchange of exchanges) {
    const read = reads.find(({ asked }) => isSame(asked, exchange));
    if (read) read.answers.push(exchange);
    else reads.push({ asked: exchange, answers: [exchange], given: 0 });
  }
  return reads;
}

function roundsOf(exchanges: readonly Exchange[]): readonly Round[] {
  const rounds: Round[] = [];
  let reads: Exchange[] = [];
  for (const exchange of exchanges) {
    if (isRead(exchange)) {
      reads.push(exchange);
    } else {
      rounds.push({ reads: readsOf(reads), write: exchange });
      reads = [];
    }
  }
  return [...rounds, { reads: readsOf(reads), write: undefined }];
}

/** Without reads that brought nothing new since the last write: how often a state was looked at is no one's business. */
export function withoutRepetitions({ step, exchanges }: RecordedStep): RecordedStep {
  let known = new Map<string, string>();
  const kept = exchanges.filter((exchange) => {
    if (!isRead(exchange)) {
      known = new Map();
      return true;
    }
    const key = shown(exchange);
    const answer = JSON.stringify([exchange.status, exchange.answer]);
    if (known.get(key) === answer) return false;
    known.set(key, answer);
    return true;
  });
  return { step, exchanges: kept };
}
