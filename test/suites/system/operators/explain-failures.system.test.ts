import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { causeOf, explained, reasonsOf } from "../support/explained.ts";
import { TroubledCluster } from "../support/troubled-cluster.ts";
import { GROWN } from "../support/harness.ts";

/** So many that the circuit breaker blocks their deletion, when all their instances are gone. */
const doomed = ["doomed-1", "doomed-2", "doomed-3", "doomed-4", "doomed-5"];

let controlPlane: ControlPlane;
let cluster: TroubledCluster;
const started = new AsyncDisposableStack();

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  started.defer(() => controlPlane.stop());
  cluster = await TroubledCluster.start(controlPlane, { args: ["--cluster-cidr=10.120.0.0/16"] });
  await Promise.all(doomed.map((name) => cluster.join(name, GROWN)));
  await Promise.all(doomed.map((name) => cluster.harness.initialized(name)));
}, 60 * 60_000);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await started.disposeAsync();
});

interface Failure {
  readonly it: string;
  readonly kind: "node" | "service";
  readonly name: string;
  readonly stage: () => Promise<void>;
  /** What `kubectl describe` says of the cause, of the next try and of what to do. */
  readonly describes: readonly RegExp[];
  readonly explains: Explains;
}

/** What `/debug/explain` says, and the command line with it. */
interface Explains {
  /** @default the object itself */
  readonly object?: string;
  readonly state: "blocked" | "waiting" | "unmanaged";
  readonly reason: string;
  /** What it names as the cause. */
  readonly cause: RegExp;
  /** How what it says to do begins. */
  readonly remedy: string;
  /** False: it waits for a change, not for a time. */
  readonly isTriedAgain: boolean;
}

/** One after the other in one cluster: what takes something away for good comes last. */
const failures: readonly Failure[] = [
  {
    it: "an unsupported port",
    kind: "service",
    name: "port",
    stage: () => cluster.createService("port", { ports: [{ port: 53, protocol: "SCTP" }] }),
    describes: [
      /SyncLoadBalancerFailed .*spec\.ports\[0\]\.protocol: port 53\/SCTP: the provider serves TCP only/,
      /\(retrying when the Service or the provider changes\). To fix: change the field or annotation that the message names/,
    ],
    explains: {
      state: "blocked",
      reason: "FeatureUnsupported",
      cause: /spec\.ports\[0\]\.protocol: port 53\/SCTP: the provider serves TCP only/,
      remedy: "Change the field that the message names",
      isTriedAgain: false,
    },
  },
  {
    it: "a class that no one serves",
    kind: "service",
    name: "class",
    stage: () => cluster.createService("class", { loadBalancerClass: "example.com/unserved" }),
    // Another controller has the word on it: nothing is said on the Service.
    describes: [/Events: +<none>/],
    explains: {
      state: "unmanaged",
      reason: "LoadBalancerClassNotServed",
      cause: /No provider serves load-balancer class example\.com\/unserved; served classes: simulated\./,
      remedy: "Recreate the Service with a class that a provider serves",
      isTriedAgain: false,
    },
  },
  {
    it: "a foreign owner",
    kind: "service",
    name: "foreign",
    stage: async () => {
      await cluster.createService("foreign", {});
      await cluster.says("foreign", "Ready");
      await cluster.giveAway(await cluster.loadBalancerOf("foreign"), "another-cluster");
      await cluster.annotateService("foreign", { "example.com/touched": "yes" });
      await cluster.says("foreign", "OwnedByAnotherCluster");
    },
    describes: [
      /OWNED_BY_ANOTHER_CLUSTER: load balancer \S+ belongs to cluster another-cluster/,
      /retrying in 1 to 5 minutes, or when the Service changes\). To fix: delete the resource in the cloud only if/,
    ],
    explains: {
      state: "blocked",
      reason: "OwnedByAnotherCluster",
      cause: /OWNED_BY_ANOTHER_CLUSTER: load balancer \S+ belongs to cluster another-cluster/,
      remedy: "Check whether the cluster that the message names still exists.",
      isTriedAgain: true,
    },
  },
  {
    it: "a stuck deletion",
    kind: "service",
    name: "stuck",
    stage: async () => {
      await cluster.createService("stuck", {});
      await cluster.says("stuck", "Ready");
      await cluster.protect(await cluster.loadBalancerOf("stuck"));
      await cluster.deleteService("stuck");
      await cluster.says("stuck", "DeletionProtected");
    },
    describes: [
      /DELETION_PROTECTED: .* load balancer \S+ is protected from deletion/,
      /To fix: annotate the Service with service\.cloudwire\.dev\/deletion-protection=false/,
    ],
    explains: {
      state: "blocked",
      reason: "DeletionProtected",
      cause: /DELETION_PROTECTED: .* load balancer \S+ is protected from deletion/,
      remedy: 'To delete both, set annotation service.cloudwire.dev/deletion-protection to "false"',
      isTriedAgain: true,
    },
  },
  {
    it: "a quota that is full",
    kind: "service",
    name: "quota",
    stage: async () => {
      const { length: loadBalancers } = await cluster.harness.loadBalancers();
      await cluster.harness.admin.change({ quotas: { loadBalancers } });
      await cluster.createService("quota", {});
      await cluster.says("quota", "QuotaExceeded");
    },
    describes: [
      /QUOTA_EXCEEDED: .* 1 more are not allowed/,
      /retrying in 1 to 15 minutes\). To fix: request a higher quota/,
    ],
    explains: {
      state: "blocked",
      reason: "QuotaExceeded",
      cause: /QUOTA_EXCEEDED: .* 1 more are not allowed/,
      remedy: "Request a higher quota, or delete resources",
      isTriedAgain: true,
    },
  },
  {
    it: "a wrong provided node IP",
    kind: "node",
    name: "wrong-ip",
    stage: () => cluster.join("wrong-ip", { annotations: { "alpha.kubernetes.io/provided-node-ip": "192.0.2.99" } }),
    describes: [
      /InitializeNodeFailed .*192\.0\.2\.99 is not an address of this instance in the cloud/,
      /retrying within 5 minutes\). To fix: start the kubelet with one of the instance's addresses as --node-ip/,
    ],
    explains: {
      state: "blocked",
      reason: "ProvidedNodeIPMismatch",
      cause: /Node wrong-ip: .* 192\.0\.2\.99 is not an address of this instance in the cloud/,
      remedy: "Set the kubelet's --node-ip to an address of the instance",
      isTriedAgain: true,
    },
  },
  {
    it: "a Node that no one owns",
    kind: "node",
    name: "unowned",
    stage: () => cluster.harness.registerNode("unowned", { spec: { providerID: "other://machine-1" } }),
    // For five minutes: a provider may be rolled out later, or a controller of another kind see to it.
    describes: [/ProviderID: +other:\/\/machine-1 .*Events: +<none>/],
    explains: {
      state: "unmanaged",
      reason: "NodeUnowned",
      cause: /No provider has the prefix of other:\/\/machine-1/,
      remedy: "Run a provider with the prefix of the Node's provider ID",
      isTriedAgain: false,
    },
  },
  {
    it: "a full route table",
    kind: "node",
    name: "route-2",
    stage: async () => {
      await cluster.harness.admin.change({ quotas: { routes: 1 } });
      await cluster.join("route-1", { spec: { podCIDR: "10.120.1.0/24", podCIDRs: ["10.120.1.0/24"] } });
      await cluster.described("node", "route-1", [/RouteCreated/]);
      await cluster.join("route-2", { spec: { podCIDR: "10.120.2.0/24", podCIDRs: ["10.120.2.0/24"] } });
    },
    describes: [
      /NetworkUnavailable +True .* NoRouteCreated/,
      /FailedToCreateRoute .*QUOTA_EXCEEDED: .* 1 of 1 routes/,
      /retrying in 1 to 15 minutes, or when the table has room\). To fix: raise the limit in the cloud/,
    ],
    explains: {
      object: "route/route-2",
      state: "blocked",
      reason: "RouteTableFull",
      cause: /route 10\.120\.2\.0\/24: QUOTA_EXCEEDED: .* 1 of 1 routes/,
      remedy: "Request a higher limit, or delete unneeded routes",
      isTriedAgain: true,
    },
  },
  {
    it: "a cloud that throttles",
    kind: "service",
    name: "throttled",
    stage: async () => {
      // If its next try met the throttling first, this one would wait for the same hold and have nothing to say of its own.
      await cluster.deleteService("quota");
      await cluster.harness.admin.resetSettings();
      const throttling = { kind: "rateLimited", operation: "loadBalancers.create", retryAfterSeconds: 30 } as const;
      await cluster.harness.admin.addFault(throttling);
      await cluster.createService("throttled", {});
      await cluster.says("throttled", "Throttled");
    },
    describes: [/RATE_LIMITED: .* the account calls too often \(retrying when the provider allows it\)/],
    explains: {
      state: "waiting",
      reason: "Throttled",
      cause: /RATE_LIMITED: .* the account calls too often/,
      remedy: "If this persists, find the other users of the account's rate limit",
      isTriedAgain: true,
    },
  },
  {
    it: "an open circuit breaker",
    kind: "node",
    name: "doomed-1",
    stage: () => cluster.terminate(doomed),
    describes: [
      /TooManyNodeDeletions .*reports the instances of 5 of \d+ Nodes as absent, and at most 3 are deleted within 10 minutes/,
      /approve the deletion: kubectl annotate node doomed-1 cloudwire\.dev\/approve-deletion=true/,
    ],
    explains: {
      state: "blocked",
      reason: "TooManyNodeDeletions",
      cause: /reports the instances of 5 of \d+ Nodes as absent, and at most 3 are deleted within 10 minutes/,
      remedy: "Check in the cloud whether the instance is deleted. If so: cloudwire approve node-deletion doomed-1 ",
      isTriedAgain: true,
    },
  },
  {
    it: "a provider that is down",
    kind: "service",
    name: "down",
    stage: async () => {
      await cluster.sidecar.stop("SIGKILL");
      await cluster.createService("down", {});
      await cluster.says("down", "ProviderUnavailable");
    },
    describes: [
      /provider simulated is not connected: .*provider\.sock exists but no process serves it .* is the provider running\?/,
      /retrying in 5 seconds to 5 minutes\). To fix: check that the provider runs, reaches its cloud and has valid credentials/,
    ],
    explains: {
      state: "waiting",
      reason: "ProviderUnavailable",
      cause: /Provider simulated: \S+\/provider\.sock exists but no process serves it/,
      remedy: "Check that the provider runs and listens at its address in --provider",
      isTriedAgain: true,
    },
  },
  {
    it: "a provider without credentials",
    kind: "service",
    name: "bare",
    stage: async () => {
      await cluster[Symbol.asyncDispose]();
      cluster = await TroubledCluster.start(controlPlane, { apiKey: "no one's" });
      await cluster.createService("bare", {});
      await cluster.says("bare", "InvalidCredentials");
    },
    describes: [
      /has not reached its cloud yet: CredentialsValid: CredentialsRefused: .*the API key is unknown/,
      /retrying in 5 seconds to 5 minutes\). To fix: give the provider valid credentials/,
    ],
    explains: {
      state: "blocked",
      reason: "InvalidCredentials",
      cause: /CredentialsValid: CredentialsRefused: .* the API key is unknown/,
      remedy: "Give the provider valid credentials",
      isTriedAgain: true,
    },
  },
];

describe("the cause of a failure is reported", { timeout: 120_000 }, () => {
  test.each(failures)("of $it", async ({ kind, name, stage, describes, explains }) => {
    await stage();
    const { object = `${kind}/${kind === "service" ? "default/" : ""}${name}`, state, reason, isTriedAgain } = explains;
    const { cause, remedy } = explains;
    // While it is being worked on it has no next try.
    const explanation = await explained(cluster.controller, object, `${reason}: ${cause}`, (all) => {
      const isCause = reasonsOf(all)[0] === reason && cause.test(String(causeOf(all)["message"]));
      return isCause && (all["nextRetry"] !== undefined) === isTriedAgain;
    });
    expect(explanation).toMatchObject({ object, exists: true, state });
    expect(String(causeOf(explanation)["remedy"]).slice(0, remedy.length)).toBe(remedy);
    const nextRetry = { time: expect.any(String), inMs: expect.any(Number), message: expect.stringMatching(/./) };
    expect(explanation["nextRetry"]).toEqual(isTriedAgain ? nextRetry : undefined);

    // By now nothing that is to be said of it is yet to come.
    await cluster.described(kind, name, describes);
    const reportedCause = new RegExp(`Causes ${reason}: .*${cause.source}`);
    await cluster.explains(object, `${state}, ${reportedCause}, ${remedy}`, (text) => {
      const isCause = text.startsWith(`${object} ${state} `) && reportedCause.test(text);
      return isCause && text.includes(` To fix: ${remedy}`) && text.includes(" Next retry ") === isTriedAgain;
    });
  });
});
