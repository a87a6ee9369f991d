import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, headerOf, listenLocally, type LocalServer, MICROVERSION, textOf } from "./http.ts";
import { HIDDEN, PLACES } from "./normalize.ts";
import { Playback } from "./playback.ts";
import type { Exchange, Fact, Recording } from "./recording.ts";

/** Recordings have no tokens; each has this one. */
const TOKEN = "replayed-token";
const tokenLifeMs = 3_600_000;

/** Stands where OpenStack was when a recording was made, and answers as it did. */
export class Replayer implements AsyncDisposable {
  readonly #recording: Recording;
  readonly #playback: Playback;
  /** Since the last step began. */
  #asked: string[] = [];
  #server: LocalServer | undefined;

  private constructor(recording: Recording) {
    this.#recording = recording;
    this.#playback = new Playback(recording);
  }

  static async start(recording: Recording): Promise<Replayer> {
    const replayer = new Replayer(recording);
    replayer.#server = await listenLocally((incoming, outgoing) => {
      replayer.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
    return replayer;
  }

  get authUrl(): string {
    return `${this.#url}/identity/v3`;
  }

  /** What was asked otherwise than recorded. */
  get problems(): readonly string[] {
    return this.#playback.problems;
  }

  get #url(): string {
    return this.#server?.url ?? "";
  }

  /** The secret that recordings have instead of one. */
  get secret(): string {
    return HIDDEN;
  }

  /** What was asked since the last `begin`. */
  asked(): readonly string[] {
    return this.#asked;
  }

  begin(step: string): void {
    this.#asked = [];
    this.#playback.begin(step);
  }

  end(): void {
    this.#playback.end();
  }

  /** @throws Error for a fact that the scenario did not have when it was recorded */
  fact(name: string): Fact {
    const fact = this.#recording.facts[name];
    if (fact === undefined)
      throw new Error(`the recording has no fact “${name}”: npm run test:openstack records again`);
    return fact;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = await textOf(incoming);
    const isLogin = incoming.url?.startsWith("/identity/") === true;
    if (!isLogin && headerOf(incoming, "x-auth-token") !== TOKEN) {
      outgoing.writeHead(401, { "content-type": "application/json" }).end(`{"error":{"title":"Unauthorized"}}`);
      return;
    }
    const microversion = headerOf(incoming, MICROVERSION);
    const ask = `${incoming.method} ${incoming.url}`;
    this.#asked.push(ask);
    const found = this.#playback.answer({
      ask,
      ...(microversion === undefined ? {} : { microversion }),
      ...(text === "" ? {} : { sent: bodyOf(text) }),
    });
    if (found) this.#answer(found, outgoing);
    else outgoing.writeHead(500, { "content-type": "text/plain" }).end(this.problems.at(-1));
  }

  #answer({ status, headers = {}, answer }: Exchange, outgoing: ServerResponse): void {
    const filled = Object.entries(headers).map(([name, value]) => [name, this.#filled(value)] as const);
    const kind = typeof answer === "string" ? "text/plain" : "application/json";
    outgoing.writeHead(status, { ...Object.fromEntries(filled), "content-type": kind });
    outgoing.end(
      answer === undefined ? "" : this.#filled(typeof answer === "string" ? answer : JSON.stringify(answer)),
    );
  }

  #filled(text: string): string {
    return text
      .replaceAll(PLACES.url, this.#url)
      .replaceAll(PLACES.token, TOKEN)
      .replaceAll(PLACES.later, new Date(Date.now() + tokenLifeMs).toISOString());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.close();
  }
}
