import { setTimeout as wait } from "node:timers/promises";
import { WatchLoadBalancersResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { HealthCheckResponse, HealthCheckResponse_ServingStatus } from "@cloudwire/proto/grpc/health/v1/health";
import {
  altered,
  askedOtherwise,
  type Balancer,
  balancers,
  type Codec,
  bySession,
  endingWithOk,
  forgiving,
  isEnd,
  type Machine,
  machines,
  refusedStream,
  silentStream,
  Subscribers,
} from "../altered-stream.ts";
import { isCall, type Mutant } from "../mutant.ts";
import type { ProxiedStream, StreamIntercept } from "../mutant-proxy.ts";

/** A fault of streams is seen by every check of a watch, and most wait a second for what does not come: those that wait for nothing are run, and few more. */
const only = [
  "watch.initial.end",
  "watch.initial.equals-list",
  "watch.multi",
  "watch.val",
  "watch.scope",
  "watch.token.garbage",
];
const balancerOnly = ["lb.watch.owned", "lb.watch.val", "lb.watch.scope", "lb.watch.token.garbage"];
const balancerChanges = [
  "lb.watch.ready",
  "lb.watch.initial.equals-get",
  "lb.watch.gone",
  "lb.watch.resume.continues",
  "lb.watch.isolated",
];

const machineChanges = ["watch.resume.continues", "watch.latency", "watch.gone.absence"];
/** For faults that show themselves by something that never comes. The correct provider says something every second. */
const patience = 0.2;

/** The workers that watches take. */
const workers = new Subscribers();

/** What the oldest of several watches receives; the others receive nothing. A canceled watch takes a moment to end. */
async function* toTheOldest(isOldest: () => boolean, open: () => ProxiedStream): ProxiedStream {
  await wait(200);
  return yield* isOldest() ? open() : silentStream();
}

/** Of instances: what they report at first. */
const initialMutants: readonly Mutant[] = [
  {
    name: "no-end-mark",
    fault: "no bookmark says that the initial events are complete",
    fails: ["watch.initial.end"],
    only,
    patience,
    stream: altered(machines, (message) =>
      isEnd(message) ? [{ ...message, event: { $case: "bookmark", value: { initialEventsEnd: false } } }] : [message],
    ),
  },
  {
    name: "partial-snapshot",
    fault: "the initial events of a watch lack a machine",
    fails: ["watch.initial.equals-list"],
    only,
    stream: altered(machines, (message, { seen, complete }) => (seen === 1 && !complete ? [] : [message])),
  },
  {
    name: "watch-no-token",
    fault: "the bookmark after the initial events has no token",
    fails: ["watch.shape"],
    only: ["watch.initial.end", "watch.shape"],
    stream: altered(machines, (message) => [isEnd(message) ? { ...message, resumeToken: "" } : message]),
  },
  {
    name: "replays",
    fault: "a watch that goes on after a token sends all machines again",
    fails: ["watch.resume.no-snapshot"],
    only: ["watch.initial.end", "watch.shape", "watch.never-ok", "watch.resume.no-snapshot"],
    stream: askedOtherwise(machines.method, (request) => ({
      ...request,
      resumeToken: "",
      sendInitialEvents: request.sendInitialEvents || request.resumeToken !== "",
    })),
  },
  {
    name: "single-subscriber",
    fault: "a second watch beside a first receives nothing",
    fails: ["watch.multi"],
    only: ["watch.initial.end", "watch.multi"],
    stream: bySession(machines.method, (_subscribers, isOldest, open) => toTheOldest(isOldest, open)),
  },
  {
    name: "watch-leak",
    fault: "a watch that was cancelled still counts, and there may be 250",
    fails: ["watch.cancel.leak"],
    only: ["watch.initial.end", "watch.cancel.leak"],
    stream: bySession(machines.method, ({ ever }, _isOldest, open) => (ever > 250 ? refusedStream() : open())),
  },
  {
    name: "worker-per-watch",
    fault: "each watch takes one of ten workers for as long as its reader stands still",
    fails: ["watch.slow"],
    only: ["watch.initial.end", "watch.slow"],
    stream: (request, next) => (isCall(request, machines.method) ? workers.count(() => next(request)) : next(request)),
    intercept: async (request, next) =>
      workers.open > 10 && isCall(request, "GetProviderStatus") ? "hang" : next(request),
  },
];

/** Of machines that come and go. */
const machineChangeMutants: readonly Mutant[] = [
  {
    name: "resume-from-now",
    fault: "a watch of machines that goes on after a token begins now",
    fails: ["watch.resume.continues"],
    level: "D",
    only: machineChanges,
    patience,
    stream: askedOtherwise(machines.method, (request) => ({ ...request, resumeToken: "" })),
  },
  {
    name: "lazy-watch",
    fault: "new instances are reported much later than the handshake says",
    fails: ["watch.latency"],
    level: "D",
    only: machineChanges,
    patience,
    stream: altered(machines, (message, { complete }) =>
      complete && message.event?.$case === "upsert" ? [] : [message],
    ),
  },
  {
    name: "gone-bare",
    fault: "a machine is gone without an absence",
    fails: ["watch.gone.absence"],
    level: "D",
    only: machineChanges,
    patience,
    stream: altered(machines, (message) =>
      message.event?.$case === "gone"
        ? [{ ...message, event: { $case: "gone", value: { ...message.event.value, absence: undefined } } }]
        : [message],
    ),
  },
];

/** What holds of both kinds. */
const ofKind = <Message extends Machine | Balancer>(
  codec: Codec<Message>,
  prefix: string,
  checks: readonly string[],
): readonly Mutant[] => {
  const named = (name: string): string => (prefix === "watch" ? name : `lb-${name}`);
  const what = codec.method;
  return [
    {
      name: named("silent-stream"),
      fault: `${what} sends nothing while nothing happens`,
      fails: [`${prefix}.heartbeat`],
      only: [`${prefix}.heartbeat`],
      patience,
      stream: altered(codec, (message, { complete }) => (complete ? [] : [message])),
    },
    {
      name: named("watch-ends-ok"),
      fault: `${what} ends with OK once it has sent what there is`,
      fails: [`${prefix}.never-ok`],
      only: [`${prefix}.never-ok`, ...checks],
      stream: endingWithOk(codec),
    },
    {
      name: named("bad-token-ok"),
      fault: `${what} takes any token`,
      fails: [`${prefix}.token.garbage`],
      only: checks,
      patience,
      stream: forgiving(what, 11),
    },
    {
      name: named("watch-any-scope"),
      fault: `${what} takes any scope`,
      fails: [`${prefix}.scope`],
      only: checks,
      patience,
      stream: forgiving(what, 9),
    },
    {
      name: named("watch-lenient"),
      fault: `${what} takes requests that are wrong`,
      fails: [`${prefix}.val`],
      only: checks,
      patience,
      stream: forgiving(what, 3),
    },
  ];
};

const foreign = WatchLoadBalancersResponse.fromPartial({
  event: {
    $case: "upsert",
    value: {
      id: "lb-foreign",
      service: { namespace: "shop", name: "web", uid: "33333333-3333-4333-8333-333333333333" },
    },
  },
});

const balancerMutants: readonly Mutant[] = [
  {
    name: "lb-watch-foreign",
    fault: "a new cluster receives a load balancer of another cluster",
    fails: ["lb.watch.owned"],
    only: balancerOnly,
    stream: altered(balancers, (message, { seen }) => (seen === 0 ? [foreign, message] : [message])),
  },
  {
    name: "lb-watch-mute",
    fault: "no watch reports that a load balancer is ready",
    fails: ["lb.watch.ready"],
    level: "M",
    only: balancerChanges,
    stream: altered(balancers, (message, { complete }) =>
      complete && message.event?.$case === "upsert" ? [] : [message],
    ),
  },
  {
    name: "lb-watch-other-fields",
    fault: "a watch shows load balancers without fingerprint",
    fails: ["lb.watch.initial.equals-get"],
    level: "M",
    only: balancerChanges,
    stream: altered(balancers, (message) =>
      message.event?.$case === "upsert"
        ? [{ ...message, event: { $case: "upsert", value: { ...message.event.value, specFingerprint: "" } } }]
        : [message],
    ),
  },
  {
    name: "lb-gone-bare",
    fault: "a load balancer is gone without an absence",
    fails: ["lb.watch.gone"],
    level: "M",
    only: balancerChanges,
    stream: altered(balancers, (message) =>
      message.event?.$case === "gone"
        ? [{ ...message, event: { $case: "gone", value: { ...message.event.value, absence: undefined } } }]
        : [message],
    ),
  },
  {
    name: "lb-resume-from-now",
    fault: "a watch of load balancers that goes on after a token begins now",
    fails: ["lb.watch.resume.continues"],
    level: "M",
    only: balancerChanges,
    stream: askedOtherwise(balancers.method, (request) => ({ ...request, resumeToken: "" })),
  },
  {
    name: "lb-watch-all",
    fault: "a watch reports all load balancers to every cluster",
    fails: ["lb.watch.isolated"],
    level: "M",
    only: balancerChanges,
    stream: askedOtherwise(balancers.method, ({ context, ...request }) => {
      const cluster = context?.cluster;
      const own = cluster && { ...cluster, id: cluster.id.replace(/-watcher$/, "") };
      return { ...request, context: context && { ...context, cluster: own } };
    }),
  },
];

const { SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;

/** Changes the reported health. */
const healthReported =
  (
    alter: (status: HealthCheckResponse_ServingStatus) => HealthCheckResponse_ServingStatus | undefined,
  ): StreamIntercept =>
  (request, next) =>
    request.path === "/grpc.health.v1.Health/Watch" ? healthStream(alter, next(request)) : next(request);

async function* healthStream(
  alter: (status: HealthCheckResponse_ServingStatus) => HealthCheckResponse_ServingStatus | undefined,
  stream: ProxiedStream,
): ProxiedStream {
  while (true) {
    const next = await stream.next();
    if (next.done === true) return next.value;
    const status = alter(HealthCheckResponse.decode(next.value).status);
    if (status !== undefined) yield Buffer.from(HealthCheckResponse.encode({ status }).finish());
  }
}

const healthMutants: readonly Mutant[] = [
  {
    name: "health-watch-mute",
    fault: "health watchers receive nothing while the provider is healthy",
    fails: ["health.watch.serving"],
    only: ["health.watch.*"],
    stream: healthReported((status) => (status === SERVING ? undefined : status)),
  },
  {
    name: "health-watch-yes",
    fault: "watchers of any name's health receive SERVING",
    fails: ["health.watch.unknown"],
    only: ["health.watch.*"],
    stream: healthReported((status) => (status === SERVICE_UNKNOWN ? SERVING : status)),
  },
  {
    name: "ping-police",
    fault: "a client that sends keepalive pings loses its connection",
    fails: ["proc.keepalive.tolerant"],
    only: ["proc.keepalive.tolerant"],
    endOnPing: true,
  },
];

/** Faults of streams. */
export const watchMutants: readonly Mutant[] = [
  ...initialMutants,
  ...machineChangeMutants,
  ...ofKind(machines, "watch", only),
  ...ofKind(balancers, "lb.watch", balancerOnly),
  ...balancerMutants,
  ...healthMutants,
];
