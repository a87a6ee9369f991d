import type { Explanation, ObjectRow, OrphansPage, Overview, PlansPage } from "@cloudwire/operator-api";

const AT = "2026-11-23T15:04:05.000Z";

/** A Node that the brake holds, with everything that an explanation can have. */
export const heldNode: Explanation = {
  object: "node/worker-1",
  kind: "node",
  at: AT,
  replica: { identity: "ccm-0_1b2c", leads: true, version: "0.1.0" },
  exists: true,
  state: "blocked",
  summary: "Its machine is gone by the word of aws, and the brake holds it.",
  causes: [
    {
      reason: "DeletionBrake",
      message: "More Nodes than usual would go at once, so none of them is deleted.",
      remedy: "See at the cloud whether these machines are really gone.",
      see: "docs/explanation/deletion-guard.md",
    },
    { reason: "CallsHeldBack", message: "Calls of class reads are held back." },
  ],
  nextTry: { at: "2026-11-23T15:04:35.000Z", inMs: 30_000, why: "the guard looks again" },
  wishes: [
    { what: "taint uninitialized lifted", state: "met" },
    { what: "Node deleted", state: "pending", detail: "held by the brake" },
    { what: "addresses as at the cloud", state: "unmet" },
  ],
  facts: [
    { name: "provider id", value: "aws:///eu-1a/i-0123" },
    { name: "created", value: "2026-11-20T10:00:00Z" },
  ],
  work: [
    {
      controller: "cloud-node-lifecycle-controller",
      key: "worker-1",
      queue: { kind: "delayed", dueAt: "2026-11-23T15:04:35.000Z", inMs: 30_000 },
      failures: 0,
      last: { outcome: "requeued", end: "2026-11-23T15:04:02.000Z", durationMs: 12, reconcileId: "r-1" },
    },
    {
      controller: "cloud-node-controller",
      key: "worker-1",
      queue: { kind: "waiting", priority: "low", ahead: 3 },
      failures: 2,
      last: {
        outcome: "error",
        end: "2026-11-23T15:00:05.000Z",
        durationMs: 1500,
        reconcileId: "r-2",
        error: { code: "UNAVAILABLE", message: "the cloud is away" },
      },
    },
    { controller: "service-lb-controller", key: "worker-1", queue: { kind: "idle" }, failures: 0 },
    { controller: "node-route-controller", key: "worker-1", queue: { kind: "working", forMs: 250 }, failures: 1 },
    {
      controller: "node-ipam-controller",
      key: "worker-1",
      queue: { kind: "notRunning", why: "--controllers" },
      failures: 0,
    },
  ],
  provider: {
    name: "aws",
    connection: "connected",
    ready: false,
    reasons: ["its credentials expire soon"],
    doubt: "it failed 12 s ago",
    held: [{ quotaClass: "reads", until: "2026-11-23T15:05:00.000Z" }],
  },
  calls: [
    {
      at: "2026-11-23T15:04:00.000Z",
      provider: "aws",
      rpc: "GetInstances",
      durationMs: 87,
      code: "OK",
      cloudRequestIds: ["req-1", "req-2"],
      objects: 40,
    },
    {
      at: "2026-11-23T14:04:00.000Z",
      rpc: "GetInstances",
      durationMs: 5000,
      code: "UNAVAILABLE",
      reason: "CLOUD_UNAVAILABLE",
      message: "no answer",
      cloudRequestIds: [],
      objects: 1,
    },
  ],
  timeline: [
    {
      at: "2026-11-23T15:04:02.000Z",
      kind: "event",
      by: "cloud-node-lifecycle-controller",
      reason: "TooManyNodeDeletions",
      message: "Not deleted: 12 of 40 Nodes would go",
      isWarning: true,
      count: 3,
    },
    {
      at: "2026-11-20T10:00:05.000Z",
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
  at: AT,
  replica: { identity: "ccm-1_9f", leads: false, leader: "ccm-0_1b2c", version: "0.1.0" },
  exists: false,
  state: "ok",
  summary: "There is no such Service.",
  causes: [],
  wishes: [],
  facts: [],
  work: [],
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
      reason: "NotInCluster",
      message: "There is no node/wroker-1; did you mean node/worker-1?",
      remedy: "See how it is called with `kubectl get`.",
      see: "docs/guides/run-the-controller.md",
    },
  ],
};

/** One that is gone. */
export const goneNode: Explanation = {
  ...noNode,
  causes: [{ reason: "GoneFromCluster", message: "It is not in the cluster any more." }],
};

const none = { ok: 0, working: 0, waiting: 0, blocked: 0, unmanaged: 0 };

export const overview: Overview = {
  at: AT,
  cluster: "prod",
  replica: heldNode.replica,
  writes: true,
  counts: {
    node: { ...none, ok: 28, blocked: 12 },
    service: { ...none, ok: 4, working: 1, waiting: 2 },
    route: none,
    provider: { ...none, ok: 1, blocked: 1 },
  },
  controllers: [
    { name: "cloud-node-controller", state: "running", waiting: 3, working: 1, delayed: 0, failing: 2 },
    { name: "node-route-controller", state: "off", waiting: 0, working: 0, delayed: 0, failing: 0 },
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
        { quotaClass: "reads", callsPerSecond: 20, tokens: 39.7, waiting: 4, heldUntil: "2026-11-23T15:05:00.000Z" },
        { quotaClass: "changes", waiting: 0 },
      ],
      brake: { holds: true, gone: 12, message: "12 of 40 Nodes are gone" },
    },
    {
      name: "metal",
      address: "unix:///run/metal.sock",
      connection: "backoff",
      ready: false,
      reasons: ["nobody listens"],
      calls: 0,
      failedCalls: 0,
      inFlight: 0,
      budgets: [],
      brake: { holds: false, gone: 0 },
    },
  ],
  alarms: [
    {
      reason: "DeletionBrake",
      message: "12 of 40 Nodes are gone",
      remedy: "See at the cloud.",
      object: "provider/aws",
    },
  ],
};

export const quietOverview: Overview = { ...overview, alarms: [], writes: false, controllers: [], providers: [] };

export const plans: PlansPage = {
  observes: true,
  settled: false,
  pending: { addition: 1, change: 1, removal: 0 },
  undecided: [{ controller: "node-route-controller", key: "routes", provider: "aws" }],
  plans: [
    {
      controller: "cloud-node-controller",
      key: "worker-1",
      provider: "aws",
      digest: "d1",
      since: AT,
      writes: [
        { target: "kubernetes", effect: "addition", summary: "patch nodes worker-1: metadata.labels.zone" },
        { target: "provider", effect: "change", summary: "aws EnsureLoadBalancer (service changed)" },
      ],
    },
  ],
};

export const noPlans: PlansPage = {
  observes: true,
  settled: true,
  pending: { addition: 0, change: 0, removal: 0 },
  undecided: [],
  plans: [],
};

export const orphans: OrphansPage = {
  at: AT,
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
  unknown: [{ provider: "metal", message: "not connected" }],
};

export const heldRows: readonly ObjectRow[] = [
  {
    object: "node/worker-2",
    state: "blocked",
    reason: "DeletionBrake",
    summary: "Its machine is gone.",
    provider: "aws",
    created: AT,
  },
  {
    object: "node/worker-1",
    state: "blocked",
    reason: "DeletionBrake",
    summary: "Its machine is gone.",
    provider: "aws",
  },
  {
    object: "node/worker-3",
    state: "blocked",
    reason: "NodeOwnerless",
    summary: "Nobody serves it. Not by DeletionBrake.",
    provider: "",
  },
];
