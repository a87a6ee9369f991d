import { childSignal, sleep } from "../../util/abort.ts";
import { Backoff } from "../../util/backoff.ts";
import type { Clock, Random } from "../../util/clock.ts";
import { instanceHint } from "../convert/instance.ts";
import { loadBalancerHint } from "../convert/load-balancer.ts";
import { type CallContext, type Rpc, RPCS } from "../convert/methods.ts";
import type { ProviderReads, WatchEvent, WatchOptions } from "../model/client.ts";
import { hasReason, isOfClass } from "../model/errors.ts";
import type { Session } from "./session.ts";

interface WatchRequest {
  readonly context: CallContext | undefined;
  readonly resumeToken: string;
  readonly sendInitialEvents: boolean;
}

export function watchCalls(
  session: Session,
  random: Random,
): Pick<ProviderReads, "watchInstances" | "watchLoadBalancers"> {
  const { clock } = session;
  const watch =
    <Event, Hint>(
      rpc: Rpc<WatchRequest, { readonly event: Event; readonly resumeToken: string }>,
      hintOf: (event: Event) => Hint,
    ) =>
    (options: WatchOptions) =>
      watchLoop<Hint>(
        {
          clock,
          random,
          async *open(resumeToken, sendInitialEvents, signal) {
            const stream = session.stream(rpc, (context) => ({ context, resumeToken, sendInitialEvents }), signal);
            for await (const message of stream) yield { hint: hintOf(message.event), resumeToken: message.resumeToken };
          },
        },
        options,
      );
  return {
    watchInstances: watch(RPCS.watchInstances, instanceHint),
    watchLoadBalancers: watch(RPCS.watchLoadBalancers, loadBalancerHint),
  };
}

type Resync = { readonly kind: "resync"; readonly message: string };

export interface WatchLoopDeps<Hint> {
  readonly clock: Clock;
  readonly random: Random;
  /** Opens the stream; it ends with an error, or when `signal` aborts. */
  open(resumeToken: string, sendInitialEvents: boolean, signal: AbortSignal): AsyncIterable<WatchEvent<Hint>>;
}

/** A provider sends a message at least every 30 s ([WAT-3]); after three times that the stream is dead. */
const SILENCE_MS = 90_000;

/** Streams are reopened after this time, in case the connection is broken. */
const MAX_AGE_MS = 1_800_000;
const AGE_JITTER = 0.1;

const BACKOFF = { initialMs: 500, maxMs: 30_000, jitter: 0.2 };

/**
 * Hints of a stream that is reopened after failures: continued by token if the provider can, else with a "resync" hint to list again. Ends
 * when the signal aborts, and with an error only when the provider does not support the stream.
 */
export async function* watchLoop<Hint>(
  deps: WatchLoopDeps<Hint>,
  { signal, resumeToken, sendInitialEvents }: WatchOptions,
): AsyncGenerator<WatchEvent<Hint | Resync>, void, undefined> {
  const backoff = new Backoff(BACKOFF, deps.random);
  let token = resumeToken;
  let initial = sendInitialEvents && token === "";
  while (!signal.aborted) {
    let cause = "the stream was reopened";
    try {
      for await (const message of bounded(deps, token, initial, signal)) {
        backoff.reset();
        token = message.resumeToken;
        yield message;
      }
    } catch (error) {
      if (isOfClass(error, "FINAL")) throw error;
      if (hasReason(error, "RESUME_TOKEN_EXPIRED")) token = "";
      if (error instanceof Error) cause = error.message;
    }
    if (signal.aborted) return;
    initial = false;
    if (token === "") yield { hint: { kind: "resync", message: `a gap in the stream: ${cause}` }, resumeToken: "" };
    await sleep(backoff.nextMs(), signal, deps.clock).catch(() => undefined);
  }
}

/** One stream with limits on its silence and its age. */
async function* bounded<Hint>(
  deps: WatchLoopDeps<Hint>,
  token: string,
  initial: boolean,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<Hint>, void, undefined> {
  const { clock, random } = deps;
  using own = childSignal(signal);
  const endAfter = (delayMs: number, message: string) => clock.schedule(delayMs, () => own.abort(new Error(message)));
  const age = endAfter(MAX_AGE_MS * (1 - AGE_JITTER * random()), "the stream reached its maximum age");
  let silence = endAfter(SILENCE_MS, "the stream was silent");
  try {
    for await (const message of deps.open(token, initial, own.signal)) {
      silence.cancel();
      yield message;
      silence = endAfter(SILENCE_MS, "the stream was silent");
    }
  } finally {
    age.cancel();
    silence.cancel();
  }
}
