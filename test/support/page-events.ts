import { at, type Json, listOf } from "./kube.ts";

const STATUS_FIELDS = ["state", "reason"];

/** Reads the stream of a controller's status page: what it has reported so far. */
export class PageEvents implements Disposable {
  /** Names of the events, in the order in which they came. */
  readonly names: string[] = [];
  /** The last one. */
  overview: Json = {};
  /** By object, as a page would have them. */
  readonly rows = new Map<string, Json>();
  /** Resolves when the stream has ended in order, and rejects when it broke. */
  readonly ended: Promise<void>;
  readonly #end = new AbortController();

  private constructor(url: string) {
    this.ended = this.#read(url);
    // Whether it matters is for the test to say.
    this.ended.catch(() => undefined);
  }

  /** @param page address of the status page */
  static of(page: string): PageEvents {
    return new PageEvents(new URL("../debug/stream", page).href);
  }

  /** `ok`, or `blocked NodeUnowned`. */
  stateOf(object: string): string | undefined {
    const row = this.rows.get(object);
    return row === undefined
      ? undefined
      : STATUS_FIELDS.map((field) => textOf(row[field]))
          .join(" ")
          .trim();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  async #read(url: string): Promise<void> {
    const { body } = await fetch(url, { signal: this.#end.signal });
    let text = "";
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
    if (name === undefined || data === undefined) return;
    const content: Json = JSON.parse(data);
    this.names.push(name);
    if (name === "overview") this.overview = content;
    if (name !== "rows") return;
    for (const row of listOf(content["set"])) this.rows.set(String(at(row, "object")), row);
    const { removed } = content;
    if (Array.isArray(removed)) for (const object of removed) this.rows.delete(String(object));
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
