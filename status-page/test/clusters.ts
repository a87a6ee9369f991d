import {
  type DeletionCircuitBreaker,
  type ObjectKind,
  type ObjectRef,
  type ObjectRow,
  type Overview,
  type Sample,
  type State,
  STATES,
} from "@cloudwire/operator-api";

/** A generated cluster as a controller would report it, the same each time. Tests may change its rows and its overview. */
export interface Cluster {
  readonly rows: Map<ObjectRef, ObjectRow>;
  replica: Overview["replica"];
  observing: boolean;
  circuitBreakerOpen: boolean;
  awsUnavailable: boolean;
}

export interface ClusterSize {
  readonly nodes: number;
  readonly services: number;
}

const PROVIDERS = ["aws", "metal"] as const;

/** Numbers from 0 up to 1 that are the same each time. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export function createCluster({ nodes, services }: ClusterSize): Cluster {
  const rows = new Map<ObjectRef, ObjectRow>();
  const random = createRandom(7);
  const created = (index: number): string => new Date(Date.now() - (index + 1) * 3_600_000).toISOString();
  const add = (row: ObjectRow): void => {
    rows.set(row.object, row);
  };
  for (let index = 1; index <= nodes; index += 1) {
    const provider = index % 5 === 0 ? "metal" : "aws";
    add({ ...nodeRow(`worker-${index}`, stateOf(random())), provider, creationTime: created(index) });
    add({
      object: `route/worker-${index}`,
      state: "ok",
      summary: `Pods of the Node are routed: 10.${index >> 8}.${index & 255}.0/24.`,
      provider,
    });
  }
  for (let index = 1; index <= services; index += 1) {
    add({ ...serviceRow(`shop-${index % 20}/web-${index}`, stateOf(random())), creationTime: created(index) });
  }
  for (const name of PROVIDERS) {
    add({
      object: `provider/${name}`,
      state: "ok",
      summary: `Provider ${name} 0.1.0 is connected and well.`,
      provider: name,
    });
  }
  return {
    rows,
    replica: { identity: "cloudwire-0_6f1c", isLeader: true, version: "0.1.0" },
    observing: false,
    circuitBreakerOpen: false,
    awsUnavailable: false,
  };
}

/** Nine in ten are well. */
function stateOf(random: number): State {
  if (random < 0.9) return "ok";
  return STATES[Math.floor((random - 0.9) * 50) % STATES.length] ?? "ok";
}

/** Reasons and sentences as docs/reference/explain.md has them. */
const NODE_WORDS: Readonly<Record<State, Pick<ObjectRow, "reason" | "summary">>> = {
  ok: { summary: "The Node is initialized, and Ready." },
  progressing: { summary: "The Node is being initialized." },
  waiting: {
    reason: "InstanceStateUnknown",
    summary: "The Node is not Ready, and the state of its instance is unknown.",
  },
  blocked: { reason: "InstanceNotFound", summary: "The cloud knows no such machine." },
  unmanaged: { reason: "NodeUnowned", summary: "No provider owns the Node." },
};

const SERVICE_WORDS: Readonly<Record<State, Pick<ObjectRow, "reason" | "summary">>> = {
  ok: { summary: "The load balancer matches the spec of the Service: 203.0.113.7." },
  progressing: { summary: "The load balancer is being created." },
  waiting: { reason: "Throttled", summary: "The cloud is throttling requests." },
  blocked: { reason: "QuotaExceeded", summary: "A cloud quota is exceeded." },
  unmanaged: { reason: "LoadBalancerClassNotServed", summary: "No provider serves the Service's load balancer class." },
};

export function nodeRow(name: string, state: State): ObjectRow {
  return { object: `node/${name}`, state, provider: "aws", ...NODE_WORDS[state] };
}

export function serviceRow(name: string, state: State): ObjectRow {
  return { object: `service/${name}`, state, provider: state === "unmanaged" ? "" : "aws", ...SERVICE_WORDS[state] };
}

function countsOf(rows: Iterable<ObjectRow>): Overview["counts"] {
  const none = (): Record<State, number> => ({ ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 });
  const counts: Record<ObjectKind, Record<State, number>> = {
    node: none(),
    service: none(),
    route: none(),
    provider: none(),
  };
  for (const { object, state } of rows) {
    const kind = object.slice(0, object.indexOf("/"));
    if (kind === "node" || kind === "service" || kind === "route" || kind === "provider") counts[kind][state] += 1;
  }
  return counts;
}

const CIRCUIT_BREAKER_MESSAGE = "12 of 40 Nodes would go at once.";

function circuitBreakerOf(open: boolean): DeletionCircuitBreaker {
  return open ? { open, absentNodes: 12, message: CIRCUIT_BREAKER_MESSAGE } : { open, absentNodes: 0 };
}

export function overviewOf(cluster: Cluster, random: () => number, at = new Date()): Overview {
  const { rows, replica, observing, circuitBreakerOpen, awsUnavailable } = cluster;
  return {
    time: at.toISOString(),
    cluster: "production-eu",
    replica,
    observing,
    counts: countsOf(rows.values()),
    controllers: [
      "cloud-node-controller",
      "cloud-node-lifecycle-controller",
      "node-route-controller",
      "service-lb-controller",
    ].map((name, index) => ({
      name,
      state: "running",
      queued: Math.floor(random() * 5),
      processing: Math.floor(random() * 3),
      delayed: 10 * index,
      failing: index === 3 ? 2 : 0,
    })),
    providers: PROVIDERS.map((name) => ({
      name,
      address: `unix:///run/cloudwire/${name}.sock`,
      connection: name === "aws" && awsUnavailable ? "transientFailure" : "ready",
      ready: !(name === "aws" && awsUnavailable),
      reasons: name === "aws" && awsUnavailable ? ["the socket refuses connections"] : [],
      version: "0.1.0",
      calls: 18_250,
      failedCalls: 12,
      inFlight: Math.floor(random() * 4),
      budgets: [
        { quotaClass: "read", cloudCallsPerSecond: 20, tokens: 15 + random() * 5, queuedCalls: 0 },
        {
          quotaClass: "change",
          cloudCallsPerSecond: 5,
          tokens: 2 + random() * 3,
          queuedCalls: Math.floor(random() * 3),
        },
      ],
      ...(replica.isLeader ? { deletionCircuitBreaker: circuitBreakerOf(name === "aws" && circuitBreakerOpen) } : {}),
    })),
    alarms: [
      ...(circuitBreakerOpen
        ? [
            {
              reason: "TooManyNodeDeletions",
              message: CIRCUIT_BREAKER_MESSAGE,
              remedy:
                "Check in the cloud whether the instances are deleted. If so, approve the deletion of their Nodes with `cloudwire approve node-deletion NAME`.",
              documentation: "docs/explanation/deletion-guard.md",
              object: "provider/aws" as const,
            },
          ]
        : []),
      ...(awsUnavailable
        ? [
            {
              reason: "ProviderUnavailable",
              message: "Provider aws does not answer.",
              remedy: "Look at its log.",
              object: "provider/aws" as const,
            },
          ]
        : []),
    ],
  };
}

export function sampleOf(random: () => number, at = new Date()): Sample {
  return {
    time: at.toISOString(),
    callsPerSecond: { aws: 6 + random() * 4, metal: 1 + random() },
    failedCallsPerSecond: random() < 0.2 ? { aws: 0.2 } : {},
    reconcilesPerSecond: { "cloud-node-controller": 4 + random() * 2, "service-lb-controller": 1 + random() },
  };
}
