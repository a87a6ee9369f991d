import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** An answer that was read to its end. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * Sends a request and reads its answer to the end. undici's `request` makes a stream of each body: of an answer of some kilobytes that is
 * a large part of what the call costs.
 *
 * @param onStarted told when the head of the answer is here
 */
export function wholeAnswer(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  onStarted: (status: number) => void,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let sending: Dispatcher.DispatchController | undefined;
    let head: Pick<WholeAnswer, "status" | "headers"> = { status: 0, headers: {} };
    const parts: Buffer[] = [];
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      reject(asError(error));
    };
    const onAbort = (): void => {
      fail(signal.reason);
      sending?.abort(asError(signal.reason));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        sending = controller;
        // It gave up while the request waited for a connection.
        if (signal.aborted) controller.abort(asError(signal.reason));
      },
      onResponseStart: (_controller, status, headers) => {
        // Those below are told before the answer itself (RFC 9110, 15.2).
        if (status < 200) return;
        head = { status, headers };
        onStarted(status);
      },
      onResponseData: (_controller, chunk) => void parts.push(chunk),
      onResponseEnd: () => {
        signal.removeEventListener("abort", onAbort);
        const [first = Buffer.alloc(0)] = parts;
        resolve({ ...head, body: parts.length <= 1 ? first : Buffer.concat(parts) });
      },
      onResponseError: (_controller, error) => fail(error),
    });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
