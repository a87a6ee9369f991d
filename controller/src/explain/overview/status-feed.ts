import type { StreamEvents } from "@cloudwire/operator-api";
import type { EventFeed, StreamMessage } from "../../server/event-streams.ts";
import type { StatusReader, StatusCache } from "./status-cache.ts";
import type { Samples } from "./samples.ts";

/** Rows per message. */
const ROWS = 500;

/** Sends everything to one client, then the changes. */
export class StatusFeed implements EventFeed {
  readonly #cache: StatusCache;
  readonly #samples: Samples;
  readonly #reader: StatusReader;
  #sentOverview = "";
  #isComplete = false;
  #sentRows = 0;
  /** Number of the next sample. */
  #sample: number;
  readonly #closeSamples: () => void;

  constructor(cache: StatusCache, samples: Samples, wake: () => void) {
    this.#cache = cache;
    this.#samples = samples;
    this.#reader = cache.open(wake);
    this.#closeSamples = samples.open(wake);
    this.#sample = samples.first;
  }

  next(): StreamMessage | undefined {
    if (!this.#reader.isBegun) return undefined;
    return this.#overview() ?? this.#rows() ?? this.#complete() ?? this.#nextSample();
  }

  close(): void {
    this.#reader.close();
    this.#closeSamples();
  }

  #overview(): StreamMessage | undefined {
    const { overview } = this.#cache;
    if (overview === undefined) return undefined;
    const text = JSON.stringify({ ...overview, time: "" });
    if (text === this.#sentOverview) return undefined;
    this.#sentOverview = text;
    return { event: "overview" satisfies keyof StreamEvents, data: JSON.stringify(overview) };
  }

  #rows(): StreamMessage | undefined {
    const rows = this.#reader.take(ROWS);
    if (rows === undefined) return undefined;
    this.#sentRows += rows.set.length;
    const data = `{"set":[${rows.set.join(",")}],"removed":${JSON.stringify(rows.removed)}}`;
    return { event: "rows" satisfies keyof StreamEvents, data };
  }

  #complete(): StreamMessage | undefined {
    if (this.#isComplete) return undefined;
    this.#isComplete = true;
    const complete: StreamEvents["complete"] = { rows: this.#sentRows };
    return { event: "complete" satisfies keyof StreamEvents, data: JSON.stringify(complete) };
  }

  #nextSample(): StreamMessage | undefined {
    const sample = this.#samples.at(this.#sample);
    if (sample === undefined) return undefined;
    this.#sample = sample.number + 1;
    return { event: "sample" satisfies keyof StreamEvents, data: JSON.stringify(sample.sample) };
  }
}
