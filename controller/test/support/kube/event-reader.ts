import type { StreamEvents } from "@cloudwire/operator-api";

/** One event of the stream by its name. */
export type Received = { readonly [Name in keyof StreamEvents]?: StreamEvents[Name] };

/** Reads a stream of server-sent events until the signal aborts or it ends; the list grows as they come. */
export class EventReader {
  readonly received: Received[] = [];
  readonly status: number;
  /** Resolves when the stream has ended in order; rejects when the connection broke. */
  readonly ended: Promise<void>;

  private constructor(response: Response) {
    this.status = response.status;
    this.ended = this.#read(response);
    // Whether it matters is for the test to say.
    this.ended.catch(() => undefined);
  }

  static async open(url: string, signal: AbortSignal): Promise<EventReader> {
    return new EventReader(await fetch(url, { signal, headers: { accept: "text/event-stream" } }));
  }

  /** Each object with its state according to the stream so far. */
  get rows(): Readonly<Record<string, string>> {
    const rows = new Map<string, string>();
    for (const { rows: changes } of this.received) {
      for (const { object, state } of changes?.set ?? []) rows.set(object, state);
      for (const object of changes?.removed ?? []) rows.delete(object);
    }
    return Object.fromEntries(rows);
  }

  async #read({ body }: Response): Promise<void> {
    let text = "";
    for await (const bytes of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += bytes;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
        if (name !== undefined && data !== undefined) this.received.push({ [name]: JSON.parse(data) });
      }
    }
  }
}
