import type { ServerHttp2Session } from "node:http2";
import { WatchInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { WatchLoadBalancersRequest, WatchLoadBalancersResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { frame } from "../endpoint/frames.ts";
import { isCall, messageOf } from "./mutant.ts";
import type { ProxiedRequest, ProxiedStream, StreamIntercept } from "./mutant-proxy.ts";

/** A codec of one kind of watch. */
export interface Codec<Message> {
  readonly method: string;
  decode(bytes: Uint8Array): Message;
  encode(message: Message): { finish(): Uint8Array };
}
/** A message about machines. */
export type Machine = WatchInstancesResponse;
/** A message about load balancers. */
export type Balancer = WatchLoadBalancersResponse;

/** How watches of machines are read and written. */
export const machines: Codec<Machine> = { ...WatchInstancesResponse, method: "WatchInstances" };
/** How watches of load balancers are. */
export const balancers: Codec<Balancer> = { ...WatchLoadBalancersResponse, method: "WatchLoadBalancers" };

/** How far a stream has come. */
interface Progress {
  seen: number;
  /** The initial events are complete. */
  complete: boolean;
}
/** What a fault makes of one message: others in its place. */
type Alter<Message> = (message: Message, progress: Readonly<Progress>) => readonly Message[];

/** Changes the messages of one kind of watch. */
export const altered =
  <Message extends Machine | Balancer>(codec: Codec<Message>, alter: Alter<Message>): StreamIntercept =>
  (request, next) =>
    isCall(request, codec.method) ? alteredStream(codec, alter, next(request)) : next(request);

async function* alteredStream<Message extends Machine | Balancer>(
  codec: Codec<Message>,
  alter: Alter<Message>,
  stream: ProxiedStream,
): ProxiedStream {
  const progress: Progress = { seen: 0, complete: false };
  try {
    while (true) {
      const next = await stream.next();
      if (next.done === true) return next.value;
      const message = codec.decode(next.value);
      for (const one of alter(message, progress)) yield Buffer.from(codec.encode(one).finish());
      progress.seen += 1;
      progress.complete ||= isEnd(message);
    }
  } finally {
    void stream.return({});
  }
}

/** Ends one kind of watch with OK once the initial events are complete. */
export const endingWithOk =
  <Message extends Machine | Balancer>(codec: Codec<Message>): StreamIntercept =>
  (request, next) =>
    isCall(request, codec.method) ? endedStream(codec, next(request)) : next(request);

async function* endedStream<Message extends Machine | Balancer>(
  codec: Codec<Message>,
  stream: ProxiedStream,
): ProxiedStream {
  while (true) {
    const next = await stream.next();
    if (next.done === true) return next.value;
    yield next.value;
    if (isEnd(codec.decode(next.value))) return { "grpc-status": "0" };
  }
}

/** Whether a message says that the initial events are complete. */
export const isEnd = ({ event }: Machine | Balancer): boolean =>
  event?.$case === "bookmark" && event.value.initialEventsEnd;

/** A stream that never says anything. */
export async function* silentStream(): ProxiedStream {
  await new Promise(() => undefined);
  yield Buffer.alloc(0);
  return {};
}

/** Changes the requests of one kind of watch before the provider sees them. */
const asked =
  (method: string, alter: (request: ProxiedRequest) => ProxiedRequest): StreamIntercept =>
  (request, next) =>
    next(isCall(request, method) ? alter(request) : request);

/** Takes what has to be refused with a code, and then says nothing. */
export const forgiving =
  (method: string, code: number): StreamIntercept =>
  (request, next) =>
    isCall(request, method) ? forgivenStream(next(request), code) : next(request);

async function* forgivenStream(stream: ProxiedStream, code: number): ProxiedStream {
  while (true) {
    const next = await stream.next();
    if (next.done !== true) yield next.value;
    else if (next.value["grpc-status"] === String(code)) yield* silentStream();
    else return next.value;
  }
}

/** Both kinds of request are the same message on the wire. */
export const askedOtherwise = (
  method: string,
  alter: (request: WatchLoadBalancersRequest) => WatchLoadBalancersRequest,
): StreamIntercept =>
  asked(method, (request) => {
    const bytes = messageOf(request.body);
    if (bytes === undefined) return request;
    const message = alter(WatchLoadBalancersRequest.decode(bytes));
    return { ...request, body: frame(WatchLoadBalancersRequest.encode(message).finish()) };
  });

/** The streams that a client has opened. */
export class Subscribers {
  readonly #open = new Set<symbol>();
  #ever = 0;

  /** Those that are open. */
  get open(): number {
    return this.#open.size;
  }

  /** Those that ever were. */
  get ever(): number {
    return this.#ever;
  }

  /** Counts a stream while it is open. */
  async *count(stream: (isOldest: () => boolean) => ProxiedStream): ProxiedStream {
    const me = Symbol("subscriber");
    this.#ever += 1;
    this.#open.add(me);
    try {
      return yield* stream(() => this.#open.values().next().value === me);
    } finally {
      this.#open.delete(me);
    }
  }
}

/** Answers the streams of one kind by what else each connection has opened. */
export const bySession = (
  method: string,
  answer: (subscribers: Subscribers, isOldest: () => boolean, open: () => ProxiedStream) => ProxiedStream,
): StreamIntercept => {
  const sessions = new WeakMap<ServerHttp2Session, Subscribers>();
  return (request, next) => {
    if (!isCall(request, method)) return next(request);
    const subscribers = sessions.get(request.session) ?? new Subscribers();
    sessions.set(request.session, subscribers);
    return subscribers.count((isOldest) => answer(subscribers, isOldest, () => next(request)));
  };
};

/** A stream that is refused, as by a server with a limit. */
export async function* refusedStream(): ProxiedStream {
  const never: readonly Buffer[] = [];
  yield* never;
  return { "grpc-status": "8", "grpc-message": "there are too many subscribers" };
}
