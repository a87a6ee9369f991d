import { PATHS } from "@cloudwire/operator-api";
import { createEventParser } from "../model/event-lines.ts";
import { endpoint, errorOf } from "./endpoints.ts";

export interface StreamReader {
  readonly opened: () => void;
  readonly event: (name: string, data: string) => void;
}

/** A sample comes every few seconds, so a longer silence means a lost connection. */
const SILENCE_MS = 30_000;

/**
 * Reads the stream until the controller ends it, which it does periodically to authorize the client again. Rejects if the connection fails,
 * with a readable message, and when `signal` is aborted. Uses `fetch` because `EventSource` hides the status code of a failure, does not
 * retry after one, and does not detect silence.
 */
export async function readStream(reader: StreamReader, signal: AbortSignal): Promise<void> {
  const end = new AbortController();
  let isSilent = false;
  const onSilence = (): void => {
    isSilent = true;
    end.abort();
  };
  let timer = setTimeout(onSilence, SILENCE_MS);
  try {
    const response = await fetch(endpoint(PATHS.stream), {
      signal: AbortSignal.any([end.signal, signal]),
      headers: { accept: "text/event-stream" },
      cache: "no-store",
    });
    if (!response.ok || response.body === null) throw new Error(await errorOf(response));
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) {
      throw new Error(
        `the response is not the controller's stream: ${type === "" ? "it has no content type" : `its content type is ${type}`}`,
      );
    }
    reader.opened();
    const parser = createEventParser();
    const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(onSilence, SILENCE_MS);
      for (const { name, data } of parser.push(value)) reader.event(name, data);
    }
  } catch (error) {
    if (isSilent) throw new Error(`the controller sent no data for ${SILENCE_MS / 1000} s`, { cause: error });
    if (error instanceof TypeError) throw new Error("the controller cannot be reached", { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    // Where it was left before its end it would stay open, and browsers have few connections to one address.
    end.abort();
  }
}
