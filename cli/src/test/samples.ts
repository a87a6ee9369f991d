import type { Explanation, ObjectRow, OrphanReport, Overview, PlanReport } from "@cloudwire/operator-api";

const AT = "2026-11-23T15:04:05.000Z";

/** A Node that the circuit breaker blocks, with all fields that an explanation can have. */
export const heldNode: Explanation = {
  object: "node/worker-1",
  kind: "node",
  time: AT,
  replica: { identity: "ccm-0_1b2c", isLeader: true, version: "0.1.0" },
  exists: true,
  state: "blocked",
  summary: "aws reports its instance as deleted, and the circuit breaker blocks it.",
  causes: [
    {
      reason: "TooManyNodeDeletions",
      message: "Too many Nodes would be deleted, so none of them is.",
      remedy: "Check in the cloud whether these instances exist.",
      documentation: "docs/explanation/deletion-guard.md",
    },
    { reason: "ClientThrottled", message: "Calls of quota class reads are rate limited." },
  ],
  nextRetry: { time: "2026-11-23T15:04:35.000Z", inMs: 30_000, message: "the guard looks again" },
  desired: [
    { description: "taint uninitialized removed", state: "met" },
    { description: "Node deleted", state: "pending", message: "blocked by the circuit breaker" },
    { description: "addresses match the cloud", state: "unmet" },
  ],
  facts: [
    { name: "provider id", value: "aws:///eu-1a/i-0123" },
    { name: "created", value: "2026-11-20T10:00:00Z" },
  ],
  controllers: [
    {
      controller: "cloud-node-lifecycle-controller",
      key: "worker-1",
      queue: { kind: "delayed", dueTime: "2026-11-23T15:04:35.000Z", inMs: 30_000 },
      failures: 0,
      last: { outcome: "requeued", endTime: "2026-11-23T15:04:02.000Z", durationMs: 12, reconcileID: "r-1" },
    },
    {
      controller: "cloud-node-controller",
      key: "worker-1",
      queue: { kind: "queued", priority: "low", ahead: 3 },
      failures: 2,
      last: {
        outcome: "error",
        endTime: "2026-11-23T15:00:05.000Z",
        durationMs: 1500,
        reconcileID: "r-2",
        error: { code: "UNAVAILABLE", message: "the cloud is away" },
      },
    },
    { controller: "service-lb-controller", key: "worker-1", queue: { kind: "idle" }, failures: 0 },
    {
      controller: "node-route-controller",
      key: "worker-1",
      queue: { kind: "processing", processingMs: 250 },
      failures: 1,
    },
    {
      controller: "node-ipam-controller",
      key: "worker-1",
      queue: { kind: "notRunning", message: "--controllers" },
      failures: 0,
    },
  ],
  provider: {
    name: "aws",
    connection: "connected",
    ready: false,
    reasons: ["its credentials expire soon"],
    absenceIgnored: "it failed 12 s ago",
    throttled: [{ quotaClass: "reads", untilTime: "2026-11-23T15:05:00.000Z" }],
  },
  calls: [
    {
      time: "2026-11-23T15:04:00.000Z",
      provider: "aws",
      method: "GetInstances",
      durationMs: 87,
      code: "OK",
      cloudRequestIds: ["req-1", "req-2"],
      objectCount: 40,
    },
    {
      time: "2026-11-23T14:04:00.000Z",
      method: "GetInstances",
      durationMs: 5000,
      code: "UNAVAILABLE",
      reason: "CLOUD_UNAVAILABLE",
      message: "no answer",
      cloudRequestIds: [],
      objectCount: 1,
    },
  ],
  timeline: [
    {
      time: "2026-11-23T15:04:02.000Z",
      kind: "event",
      source: "cloud-node-lifecycle-controller",
      reason: "TooManyNodeDeletions",
      message: "Not deleted: 12 of 40 Nodes would go",
      isWarning: true,
      count: 3,
    },
    {
      time: "2026-11-20T10:00:05.000Z",
      kind: "object",
      reason: "Created",
      message: "The Node was created",
      isWarning: false,
    },
  ],
};

/** A Service of which nothing is to be said. */
export const quietService: Explanation = {
  object: "service/shop/web",
  kind: "service",
  time: AT,
  replica: { identity: "ccm-1_9f", isLeader: false, leaderIdentity: "ccm-0_1b2c", version: "0.1.0" },
  exists: false,
  state: "ok",
  summary: "There is no such Service.",
  causes: [],
  desired: [],
  facts: [],
  controllers: [],
  calls: [],
  timeline: [],
};

/** A Node that is nowhere. */
export const noNode: Explanation = {
  ...quietService,
  object: "node/wroker-1",
  kind: "node",
  state: "unmanaged",
  summary: "There is no node/wroker-1; did you mean node/worker-1?",
  causes: [
    {
      reason: "NotFound",
      message: "There is no node/wroker-1; did you mean node/worker-1?",
      remedy: "See how it is called with `kubectl get`.",
      documentation: "docs/guides/run-the-controller.md",
    },
  ],
};

/** One that is gone. */
export const goneNode: Explanation = {
  ...noNode,
  causes: [{ reason: "Deleted", message: "It is not in the cluster any more." }],
};

const none = { ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 };

export const overview: Overview = {
  time: AT,
  cluster: "prod",
  replica: heldNode.replica,
  observing: false,
  counts: {
    node: { ...none, ok: 28, blocked: 12 },
    service: { ...none, ok: 4, progressing: 1, waiting: 2 },
    route: none,
    provider: { ...none, ok: 1, blocked: 1 },
  },
  controllers: [
    { name: "cloud-node-controller", state: "running", queued: 3, processing: 1, delayed: 0, failing: 2 },
    { name: "node-route-controller", state: "off", queued: 0, processing: 0, delayed: 0, failing: 0 },
  ],
  providers: [
    {
      name: "aws",
      address: "unix:///run/aws.sock",
      connection: "connected",
      ready: true,
      reasons: [],
      version: "1.2.3",
      calls: 120,
      failedCalls: 1,
      inFlight: 2,
      budgets: [
        {
          quotaClass: "reads",
          cloudCallsPerSecond: 20,
          tokens: 39.7,
          queuedCalls: 4,
          throttledUntilTime: "2026-11-23T15:05:00.000Z",
        },
        { quotaClass: "changes", queuedCalls: 0 },
      ],
      deletionCircuitBreaker: { open: true, absentNodes: 12, message: "12 of 40 Nodes are gone" },
    },
    {
      name: "metal",
      address: "unix:///run/metal.sock",
      connection: "backoff",
      ready: false,
      reasons: ["connection refused"],
      calls: 0,
      failedCalls: 0,
      inFlight: 0,
      budgets: [],
      deletionCircuitBreaker: { open: false, absentNodes: 0 },
    },
  ],
  alarms: [
    {
      reason: "TooManyNodeDeletions",
      message: "12 of 40 Nodes are gone",
      remedy: "Check the instances in the cloud.",
      object: "provider/aws",
    },
  ],
};

export const quietOverview: Overview = { ...overview, alarms: [], observing: true, controllers: [], providers: [] };

export const plans: PlanReport = {
  observing: true,
  complete: false,
  pending: { create: 1, update: 1, delete: 0 },
  failedKeys: [{ controller: "node-route-controller", key: "routes", provider: "aws" }],
  plans: [
    {
      controller: "cloud-node-controller",
      key: "worker-1",
      provider: "aws",
      digest: "d1",
      startTime: AT,
      writes: [
        { target: "kubernetes", action: "create", summary: "patch nodes worker-1: metadata.labels.zone" },
        { target: "provider", action: "update", summary: "aws EnsureLoadBalancer (service changed)" },
      ],
    },
  ],
};

export const noPlans: PlanReport = {
  observing: true,
  complete: true,
  pending: { create: 0, update: 0, delete: 0 },
  failedKeys: [],
  plans: [],
};

export const orphans: OrphanReport = {
  time: AT,
  orphans: [
    {
      provider: "aws",
      kind: "loadBalancer",
      id: "lb-1",
      owner: "shop/old",
      message: "no Service of that name; it is deleted when its owner's UID is known to be gone",
    },
    { provider: "aws", kind: "route", id: "r-10.0.1.0", owner: "worker-9", message: "deleted at the next look" },
  ],
  unreachableProviders: [{ provider: "metal", message: "not connected" }],
};

export const heldRows: readonly ObjectRow[] = [
  {
    object: "node/worker-2",
    state: "blocked",
    reason: "TooManyNodeDeletions",
    summary: "Its instance is deleted.",
    provider: "aws",
    creationTime: AT,
  },
  {
    object: "node/worker-1",
    state: "blocked",
    reason: "TooManyNodeDeletions",
    summary: "Its instance is deleted.",
    provider: "aws",
  },
  {
    object: "node/worker-3",
    state: "blocked",
    reason: "NodeUnowned",
    summary: "No provider serves it. Not TooManyNodeDeletions.",
    provider: "",
  },
];
