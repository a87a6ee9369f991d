import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Redirected, redirected } from "./catalog.ts";
import { bodyOf, headerOf, listenLocally, type LocalServer, MICROVERSION, textOf } from "./http.ts";
import { Normalizer, PLACES } from "./normalize.ts";
import { withoutRepetitions } from "./playback.ts";
import { type Exchange, type Fact, isRead, type Recording, type RecordedStep, START } from "./recording.ts";

export interface RecorderOptions {
  readonly scenario: string;
  /** Of Keystone: `http://127.0.0.1:5000/v3`. */
  readonly authUrl: string;
  /** Versions of the services, for the recording. */
  readonly services: Readonly<Record<string, string>>;
  /** What must not be in the recording, besides tokens and what secrets' keys say. */
  readonly secrets: readonly string[];
  /** Names that are made up for each recording, to what it has instead. */
  readonly names: ReadonlyMap<string, string>;
  /** Beginnings of addresses that Neutron hands out as it likes: `203.0.113.`. */
  readonly handedOut: readonly string[];
}

/** Answers' headers that the provider reads. */
const readHeaders = ["retry-after", "x-subject-token"] as const;

/** Of one hop, and those that are another body's after a change. */
const ownHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "host"]);

interface Noted {
  readonly step: string;
  asked: Pick<Exchange, "ask" | "microversion" | "sent">;
  answer?: Pick<Exchange, "status" | "headers" | "answer">;
}

/** A proxy between the provider and the real services, which writes down what passes. */
export class Recorder implements AsyncDisposable {
  readonly #options: RecorderOptions;
  readonly #origins = new Map<string, string>();
  readonly #secrets: Set<string>;
  readonly #noted: Noted[] = [];
  readonly #facts = new Map<string, Fact>();
  readonly #steps: string[] = [START];
  #server: LocalServer | undefined;
  #beforeNextWrite: (() => Promise<unknown>) | undefined;

  private constructor(options: RecorderOptions) {
    this.#options = options;
    this.#secrets = new Set(options.secrets);
    this.#origins.set("identity", new URL(options.authUrl).origin);
  }

  static async start(options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options);
    recorder.#server = await listenLocally((incoming, outgoing) => {
      recorder.#pass(incoming, outgoing).catch((error: unknown) => outgoing.destroy(asError(error)));
    });
    return recorder;
  }

  /** What the provider is to take for Keystone. */
  get authUrl(): string {
    const { pathname } = new URL(this.#options.authUrl);
    return `${this.#url}/identity${pathname}`;
  }

  get #url(): string {
    return this.#server?.url ?? "";
  }

  /** What passes from now on belongs to this step. */
  begin(step: string): void {
    this.#steps.push(step);
  }

  /** What was asked since the last `begin`. */
  asked(): readonly string[] {
    const step = this.#steps.at(-1);
    return this.#noted.filter((noted) => noted.step === step).map(({ asked }) => asked.ask);
  }

  /** Done when the provider's next change has arrived, and before it is passed on. */
  beforeNextWrite(work: () => Promise<unknown>): void {
    this.#beforeNextWrite = work;
  }

  /** Kept for the replay. */
  addFact(name: string, fact: Fact): void {
    this.#facts.set(name, fact);
  }

  recording(): Recording {
    const { scenario, services, names, handedOut } = this.#options;
    const origins = [...this.#origins];
    const urls = new Map([
      ...origins.map(([type]) => [`${this.#url}/${type}`, `${PLACES.url}/${type}`] as const),
      ...origins.map(([type, origin]) => [origin, `${PLACES.url}/${type}`] as const),
    ]);
    const normalizer = new Normalizer({ urls, secrets: this.#secrets, names, handedOut });
    const facts = Object.fromEntries(
      [...this.#facts].map(([name, fact]) => {
        const entries = Object.entries(fact).map(([key, value]) => [key, normalizer.text(value)] as const);
        return [name, Object.fromEntries(entries)];
      }),
    );
    const steps = this.#steps.map((step) => this.#recorded(step, normalizer));
    return { scenario, services, facts, steps: withoutRepeated(steps) };
  }

  #recorded(step: string, normalizer: Normalizer): RecordedStep {
    const exchanges = this.#noted.flatMap(({ step: own, asked, answer }) => {
      if (own !== step || answer === undefined) return [];
      const { ask, microversion, sent } = asked;
      const exchange = {
        ask: normalizer.text(ask),
        ...(microversion === undefined ? {} : { microversion }),
        ...(sent === undefined ? {} : { sent: normalizer.value(sent) }),
        ...answer,
        ...(answer.answer === undefined ? {} : { answer: normalizer.value(answer.answer) }),
      };
      return [exchange];
    });
    return withoutRepetitions({ step, exchanges });
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [, type = "", rest = ""] = /^\/([^/?]+)(.*)$/.exec(incoming.url ?? "") ?? [];
    const origin = this.#origins.get(type);
    if (origin === undefined) {
      outgoing.writeHead(502).end(`the recorder knows no service ${type}: Keystone's catalog was not read through it`);
      return;
    }
    const noted: Noted = {
      step: this.#steps.at(-1) ?? START,
      asked: { ask: `${incoming.method} ${incoming.url}`, ...microversionOf(incoming) },
    };
    this.#noted.push(noted);
    if (!isRead(noted.asked)) await this.#interfere();
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => name !== "host"));
    const onward = request(origin + (rest === "" ? "/" : rest), { method: incoming.method, headers });
    const [sent, answer] = await Promise.all([copied(incoming, onward), answerTo(onward)]);
    noted.asked = { ...noted.asked, ...(sent === "" ? {} : { sent: bodyOf(sent) }) };
    await this.#answer(noted, answer, outgoing);
  }

  async #interfere(): Promise<void> {
    const work = this.#beforeNextWrite;
    this.#beforeNextWrite = undefined;
    await work?.();
  }

  async #answer(noted: Noted, answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const status = answer.statusCode ?? 502;
    const token = headerOf(answer, "x-subject-token");
    if (token === undefined) {
      outgoing.writeHead(status, answer.headers);
      const text = await copied(answer, outgoing);
      noted.answer = { status, ...headersOf(answer), ...(text === "" ? {} : { answer: bodyOf(text) }) };
      return;
    }
    this.#secrets.add(token);
    const { answer: changed, routes }: Redirected = redirected(bodyOf(await textOf(answer)), this.#url);
    for (const { type, origin } of routes) if (type !== "identity") this.#origins.set(type, origin);
    const kept = Object.entries(answer.headers).filter(([name]) => !ownHeaders.has(name));
    outgoing.writeHead(status, Object.fromEntries(kept)).end(JSON.stringify(changed));
    noted.answer = { status, ...headersOf(answer), answer: changed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.close();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Passes a body on as it comes; answers with all of it. */
async function copied(from: IncomingMessage, to: ClientRequest | ServerResponse): Promise<string> {
  const chunks: Buffer[] = [];
  const copy = new PassThrough();
  copy.on("data", (chunk: Buffer) => chunks.push(chunk));
  await pipeline(from, copy, to);
  return Buffer.concat(chunks).toString("utf8");
}

function answerTo(onward: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    onward.once("response", resolve);
    onward.once("error", reject);
  });
}

function microversionOf(message: IncomingMessage): Pick<Exchange, "microversion"> {
  const microversion = headerOf(message, MICROVERSION);
  return microversion === undefined ? {} : { microversion };
}

function headersOf(message: IncomingMessage): Pick<Exchange, "headers"> {
  const found = readHeaders.flatMap((name) => {
    const value = headerOf(message, name);
    if (value === undefined) return [];
    return [[name, name === "x-subject-token" ? PLACES.token : value] as const];
  });
  return found.length === 0 ? {} : { headers: Object.fromEntries(found) };
}

/** Checks of the cloud and new tokens come at any time: they are kept once, where the provider started. */
function withoutRepeated(steps: readonly RecordedStep[]): readonly RecordedStep[] {
  const ofStart = new Set(steps.find(({ step }) => step === START)?.exchanges.map(({ ask }) => ask));
  return steps.map(({ step, exchanges }) => ({
    step,
    exchanges: step === START ? exchanges : exchanges.filter(({ ask }) => !ofStart.has(ask)),
  }));
}
