import { childSignal, sleep } from "../../util/abort.ts";
import { Backoff } from "../../util/backoff.ts";
import type { Clock, Random } from "../../util/clock.ts";
import { instanceHint } from "../convert/instance.ts";
import { loadBalancerHint } from "../convert/load-balancer.ts";
import { RPCS } from "../convert/methods.ts";
import type { InstanceHint, LoadBalancerHint, ProviderReads, WatchEvent, WatchOptions } from "../model/client.ts";
import { hasReason, isOfClass } from "../model/errors.ts";
import type { Session } from "./session.ts";

export function watchCalls(
  session: Session,
  random: Random,
): Pick<ProviderReads, "watchInstances" | "watchLoadBalancers"> {
  return {
    watchInstances: (options) => watchInstances(session, random, options),
    watchLoadBalancers: (options) => watchLoadBalancers(session, random, options),
  };
}

function watchInstances(
  session: Session,
  random: Random,
  options: WatchOptions,
): AsyncIterable<WatchEvent<InstanceHint>> {
  return watchLoop<InstanceHint>(
    {
      clock: session.clock,
      random,
      async *open(resumeToken, sendInitialEvents, signal) {
        const request = { resumeToken, sendInitialEvents };
        const stream = session.stream(RPCS.watchInstances, (context) => ({ context, ...request }), signal);
        for await (const message of stream) {
          yield { hint: instanceHint(message.event), resumeToken: message.resumeToken };
        }
      },
    },
    options,
  );
}

function watchLoadBalancers(
  session: Session,
  random: Random,
  options: WatchOptions,
): AsyncIterable<WatchEvent<LoadBalancerHint>> {
  return watchLoop<LoadBalancerHint>(
    {
      clock: session.clock,
      random,
      async *open(resumeToken, sendInitialEvents, signal) {
        const request = { resumeToken, sendInitialEvents };
        const stream = session.stream(RPCS.watchLoadBalancers, (context) => ({ context, ...request }), signal);
        for await (const message of stream) {
          yield { hint: loadBalancerHint(message.event), resumeToken: message.resumeToken };
        }
      },
    },
    options,
  );
}

/** One message of a stream. */
export interface WatchMessage<Hint> {
  readonly hint: Hint;
  readonly resumeToken: string;
}

type Resync = { readonly kind: "resync"; readonly message: string };

export interface WatchLoopDeps<Hint> {
  readonly clock: Clock;
  readonly random: Random;
  /** Opens the stream once; it ends with an error, or when `signal` aborts. */
  open(resumeToken: string, sendInitialEvents: boolean, signal: AbortSignal): AsyncIterable<WatchMessage<Hint>>;
}

/** A provider sends something at least every 30 s ([WAT-3]); three times that, and the stream is dead. */
const SILENCE_MS = 90_000;

/** Streams are opened anew after this, so that none outlives its connection's troubles for long. */
const MAX_AGE_MS = 1_800_000;
const AGE_JITTER = 0.1;

const BACKOFF = { initialMs: 500, maxMs: 30_000, jitter: 0.2 };

/**
 * Hints of a stream that goes on over breaks: continued by token where the provider can, else with a "resync", which tells the
 * reader to list again. Ends when the signal aborts, and with an error only when the provider does not serve the stream.
 */
export async function* watchLoop<Hint>(
  deps: WatchLoopDeps<Hint>,
  { signal, resumeToken, sendInitialEvents }: WatchOptions,
): AsyncGenerator<WatchMessage<Hint | Resync>, void, undefined> {
  const backoff = new Backoff(BACKOFF, deps.random);
  let token = resumeToken;
  let initial = sendInitialEvents && token === "";
  while (!signal.aborted) {
    let why = "the stream was opened anew";
    try {
      for await (const message of bounded(deps, token, initial, signal)) {
        backoff.reset();
        token = message.resumeToken;
        yield message;
      }
    } catch (error) {
      if (isOfClass(error, "FINAL")) throw error;
      if (hasReason(error, "RESUME_TOKEN_EXPIRED")) token = "";
      if (error instanceof Error) why = error.message;
    }
    if (signal.aborted) return;
    initial = false;
    if (token === "") yield { hint: { kind: "resync", message: `a gap in the stream: ${why}` }, resumeToken: "" };
    await sleep(backoff.nextMs(), signal, deps.clock).catch(() => undefined);
  }
}

/** One stream with its two limits: how long it may be silent, and how old it may become. */
async function* bounded<Hint>(
  deps: WatchLoopDeps<Hint>,
  token: string,
  initial: boolean,
  signal: AbortSignal,
): AsyncGenerator<WatchMessage<Hint>, void, undefined> {
  const { clock, random } = deps;
  using own = childSignal(signal);
  const giveUpAfter = (delayMs: number, why: string) => clock.schedule(delayMs, () => own.abort(new Error(why)));
  const age = giveUpAfter(MAX_AGE_MS * (1 - AGE_JITTER * random()), "the stream was open for long");
  let silence = giveUpAfter(SILENCE_MS, "the stream was silent");
  try {
    for await (const message of deps.open(token, initial, own.signal)) {
      silence.cancel();
      yield message;
      silence = giveUpAfter(SILENCE_MS, "the stream was silent");
    }
  } finally {
    age.cancel();
    silence.cancel();
  }
}
