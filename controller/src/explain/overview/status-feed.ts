import type { StreamEvents } from "@cloudwire/operator-api";
import type { EventFeed, StreamMessage } from "../../server/event-streams.ts";
import type { StatusReader, StatusCache } from "./status-cache.ts";
import type { Samples } from "./samples.ts";

/** Rows of one message. */
const ROWS = 500;

/** Tells one reader everything, and then what changes. */
export class StatusFeed implements EventFeed {
  readonly #board: StatusCache;
  readonly #samples: Samples;
  readonly #reader: StatusReader;
  #toldOverview = "";
  #isComplete = false;
  #toldRows = 0;
  /** Number of the next sample to be told. */
  #sample: number;
  readonly #closeSamples: () => void;

  constructor(board: StatusCache, samples: Samples, wake: () => void) {
    this.#board = board;
    this.#samples = samples;
    this.#reader = board.open(wake);
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
    const { overview } = this.#board;
    if (overview === undefined) return undefined;
    const { time, ...rest } = overview;
    const text = JSON.stringify(rest);
    if (text === this.#toldOverview) return undefined;
    this.#toldOverview = text;
    return { event: "overview" satisfies keyof StreamEvents, data: JSON.stringify(overview) };
  }

  #rows(): StreamMessage | undefined {
    const rows = this.#reader.take(ROWS);
    if (rows === undefined) return undefined;
    this.#toldRows += rows.set.length;
    const data = `{"set":[${rows.set.join(",")}],"removed":${JSON.stringify(rows.removed)}}`;
    return { event: "rows" satisfies keyof StreamEvents, data };
  }

  #complete(): StreamMessage | undefined {
    if (this.#isComplete) return undefined;
    this.#isComplete = true;
    const complete: StreamEvents["complete"] = { rows: this.#toldRows };
    return { event: "complete" satisfies keyof StreamEvents, data: JSON.stringify(complete) };
  }

  #nextSample(): StreamMessage | undefined {
    const sample = this.#samples.at(this.#sample);
    if (sample === undefined) return undefined;
    this.#sample = sample.number + 1;
    return { event: "sample" satisfies keyof StreamEvents, data: JSON.stringify(sample.sample) };
  }
}
