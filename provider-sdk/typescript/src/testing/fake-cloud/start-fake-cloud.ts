import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Clock, systemClock } from "../../util/clock.ts";
import { type Fault, Faults, type FaultScope, type InjectedFault, type Suffering } from "./fault.ts";
import { answerByRoute, type FakeCloudResponse, type FakeCloudRequest, type FakeCloudRoutes } from "./routes.ts";
import { createTable, type FakeTable, type TableBehavior } from "./table.ts";

/** How a fake cloud is made. */
export interface FakeCloudOptions {
  /** Time for latency, staleness and rates. Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** Decides which requests a fault with a `rate` meets; 0 to 1. Default: the same row of numbers in each run. */
  readonly random?: (() => number) | undefined;
}

/** A request that a fake cloud was sent. */
export type SeenRequest = Omit<FakeCloudRequest, "params">;

/** A cloud with an HTTP API on loopback, so that a provider's real client code is tested, and faults at the test's command. */
export interface FakeCloud extends AsyncDisposable {
  /** Where it is: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Requests so far, the ones that met a fault included. */
  readonly requests: readonly SeenRequest[];
  /** Adds routes. They go before those that are there, so that a test can put its own in their place. */
  readonly serve: (routes: FakeCloudRoutes) => void;
  /** Makes a table of objects for routes to work on. */
  readonly table: <Item>(behavior?: TableBehavior) => FakeTable<Item>;
  /** From now on requests meet this fault, until it is removed. */
  readonly inject: (fault: Fault, scope?: FaultScope) => InjectedFault;
  /** Removes all faults. */
  readonly clearFaults: () => void;
  /** Stops it; connections are cut. May be called more than once. */
  readonly close: () => Promise<void>;
}

/** Starts a fake cloud. Its API is made of the routes that the test serves. */
export const startFakeCloud = async (options: FakeCloudOptions = {}): Promise<FakeCloud> => {
  const { clock = systemClock, random = numbersFrom(1) } = options;
  const faults = new Faults(clock, random);
  const requests: SeenRequest[] = [];
  let routes: FakeCloudRoutes = {};
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    requests.push(request);
    await perform(faults.of(request.method, request.path), () => answerByRoute(routes, request), outgoing, clock);
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = async (): Promise<void> => {
    faults.clear();
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    requests,
    serve: (more) => {
      routes = { ...more, ...Object.fromEntries(Object.entries(routes).filter(([route]) => !(route in more))) };
    },
    table: (behavior) => createTable(clock, behavior),
    inject: (fault, scope = {}) => faults.inject(fault, scope),
    clearFaults: () => faults.clear(),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/** Suffers every fault in turn; the first that ends the request ends it. */
const perform = async (
  sufferings: readonly Suffering[],
  work: () => Promise<FakeCloudResponse>,
  outgoing: ServerResponse,
  clock: Clock,
): Promise<void> => {
  for (const suffering of sufferings) {
    if (suffering.kind !== "cutShort" && suffering.kind !== "latency" && suffering.applied) await work();
    switch (suffering.kind) {
      case "latency":
        await wait(clock, suffering.ms, suffering.removed);
        break;
      case "status":
        send(outgoing, refusal(suffering));
        return;
      case "hang":
        await untilAborted(suffering.removed);
        outgoing.destroy();
        return;
      case "reset":
        outgoing.socket?.resetAndDestroy();
        return;
      case "cutShort":
        sendHalf(outgoing, await work());
        return;
      default:
        suffering satisfies never;
    }
  }
  send(outgoing, await work());
};

const refusal = ({ status, retryAfterSeconds, body }: Extract<Suffering, { readonly kind: "status" }>) => ({
  status,
  headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  body: body ?? { error: `injected fault: ${status}` },
});

/** Ends when the fault is removed, at the latest. */
const wait = async (clock: Clock, ms: number, removed: AbortSignal): Promise<void> => {
  const due = Promise.withResolvers<void>();
  const cancel = clock.after(ms, due.resolve);
  await Promise.race([due.promise, untilAborted(removed)]);
  cancel();
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const send = (outgoing: ServerResponse, { status, headers = {}, body }: FakeCloudResponse): void => {
  const content = body === undefined ? undefined : JSON.stringify(body);
  outgoing.writeHead(status ?? (content === undefined ? 204 : 200), { "content-type": "application/json", ...headers });
  outgoing.end(content);
};

/** The length says more than comes. */
const sendHalf = (outgoing: ServerResponse, { status = 200, headers = {}, body }: FakeCloudResponse): void => {
  const content = Buffer.from(JSON.stringify(body ?? {}));
  outgoing.writeHead(status, { "content-type": "application/json", ...headers, "content-length": content.length });
  outgoing.write(content.subarray(0, content.length / 2), () => outgoing.destroy());
};

const readRequest = async (incoming: IncomingMessage): Promise<SeenRequest> => {
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://fake-cloud");
  const content = await text(incoming);
  return {
    method: incoming.method ?? "GET",
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    ),
    body: content === "" ? undefined : parseBody(content),
  };
};

const parseBody = (content: string): unknown => {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
};

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

/** Numbers from 0 to 1 that look random and are the same in each run (mulberry32). */
const numbersFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
