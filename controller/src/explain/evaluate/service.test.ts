import { describe, expect, test } from "vitest";
import { CREATED_MS, ingress, service, servicePort, type ServiceParts } from "../../../test/support/builders.ts";
import { failedWith, remembered } from "../../../test/support/explain/explain-builders.ts";
import { idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import { DELETION_PROTECTION } from "../../api/annotations.ts";
import { LOAD_BALANCER_CLEANUP } from "../../api/well-known.ts";
import { LOAD_BALANCER_READY, type LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import type { Condition } from "../../api/meta.ts";
import { LoadBalancerSyncError, readinessOfFailure } from "../../controllers/service/failure.ts";
import {
  ProviderError,
  type ProviderErrorFields,
  ambiguousServiceOwnerError,
  contractError,
} from "../../provider/model/errors.ts";
import type { ServiceOwner } from "../../provider/model/provider.ts";
import { evaluateService, type ServiceFacts } from "./service.ts";
import { cause } from "../reasons/reasons.ts";

const declared = info();
const OWNED: ServiceOwner = { kind: "owned", provider: idleProvider("east", declared), info: declared };
const HOUR_MS = 3_600_000;

function conditionsOf(reason: LoadBalancerReadyReason, message = "so it is."): readonly Condition[] {
  const status = reason === "Ready" ? "True" : "False";
  return [{ type: LOAD_BALANCER_READY, status, reason, message, observedGeneration: 0, lastTransitionTimeMs: 0 }];
}

function facts(parts: ServiceParts, rest: Partial<ServiceFacts> = {}): ServiceFacts {
  const { metadata, ...others } = parts;
  const one = service("web", { metadata: { finalizers: [LOAD_BALANCER_CLEANUP], ...metadata }, ...others });
  const base = { service: one, owner: OWNED, troubles: [], last: undefined, classes: [], nowMs: CREATED_MS + HOUR_MS };
  return { ...base, ...rest };
}

const gone = { metadata: { deletionTimestampMs: CREATED_MS } };
const justGone = { metadata: { deletionTimestampMs: CREATED_MS + HOUR_MS - 1000 } };
const unsupported = { ports: [servicePort({ protocol: "SCTP", port: 5060 })] };

function error(fields: Partial<ProviderErrorFields>) {
  return failedWith(new ProviderError({ code: "UNAVAILABLE", message: "why", ...fields }));
}

describe("evaluateService()", () => {
  test.each<{ what: string; of: ServiceFacts; state: string; reasons: readonly string[] }>([
    {
      what: "matches its spec",
      of: facts({ status: { conditions: conditionsOf("Ready") } }),
      state: "ok",
      reasons: [],
    },
    {
      what: "matches its spec while its provider is unavailable",
      of: facts({ status: { conditions: conditionsOf("Ready") } }, { troubles: [cause("ProviderUnavailable")] }),
      state: "ok",
      reasons: [],
    },
    { what: "is new", of: facts({}), state: "progressing", reasons: [] },
    {
      what: "is being made",
      of: facts({ status: { conditions: conditionsOf("Provisioning") } }),
      state: "progressing",
      reasons: [],
    },
    {
      what: "wants none",
      of: facts({ metadata: { finalizers: [] }, spec: { type: "ClusterIP" } }),
      state: "unmanaged",
      reasons: [],
    },
    {
      what: "has a class without a provider",
      of: facts(
        { metadata: { finalizers: [] }, spec: { loadBalancerClass: "x/y" } },
        { owner: { kind: "unowned", why: "no provider serves load-balancer class x/y" }, classes: ["acme/nlb"] },
      ),
      state: "unmanaged",
      reasons: ["LoadBalancerClassNotServed"],
    },
    {
      what: "has a default provider without load balancers",
      of: facts({}, { owner: { kind: "unowned", why: "Services without class go to east, which serves none" } }),
      state: "blocked",
      reasons: ["NoLoadBalancerProvider"],
    },
    {
      what: "could be of several",
      of: facts(
        {},
        { owner: { kind: "undecided", error: ambiguousServiceOwnerError("both serve it", ["east", "west"]) } },
      ),
      state: "blocked",
      reasons: ["LoadBalancerClassConflict"],
    },
    {
      what: "may be of one that has not answered",
      of: facts({}, { owner: { kind: "undecided", error: contractError("PROVIDER_STARTING", "east is silent") } }),
      state: "waiting",
      reasons: ["OwnerUnknown"],
    },
    {
      what: "has a port that is not offered, by a replica that does not lead",
      of: facts({ spec: unsupported, status: { conditions: conditionsOf("Rejected") } }),
      state: "blocked",
      reasons: ["FeatureUnsupported", "Rejected"],
    },
    {
      what: "has a port that is not offered",
      of: facts(
        { spec: unsupported },
        { last: failedWith(new LoadBalancerSyncError("no SCTP", { reason: "Rejected" })) },
      ),
      state: "blocked",
      reasons: ["FeatureUnsupported", "Rejected"],
    },
    {
      what: "has an annotation that is not understood",
      of: facts({}, { last: failedWith(contractError("ANNOTATION_INVALID", "spec.annotations")) }),
      state: "blocked",
      reasons: ["Rejected"],
    },
    {
      what: "has no quota",
      of: facts({}, { last: failedWith(contractError("QUOTA_EXCEEDED", "5 of 5")) }),
      state: "blocked",
      reasons: ["QuotaExceeded"],
    },
    {
      what: "met another cluster's load balancer",
      of: facts({}, { last: failedWith(contractError("OWNED_BY_ANOTHER_CLUSTER", "of cluster b")) }),
      state: "blocked",
      reasons: ["OwnedByAnotherCluster"],
    },
    {
      what: "asks for an address that is taken",
      of: facts({}, { last: failedWith(contractError("ADDRESS_IN_USE", "1.2.3.4")) }),
      state: "blocked",
      reasons: ["Conflict"],
    },
    {
      what: "is in a vendor's conflict",
      of: facts({}, { last: error({ code: "ALREADY_EXISTS", reason: "MINE", domain: "acme.example" }) }),
      state: "blocked",
      reasons: ["Conflict"],
    },
    {
      what: "has a provider without credentials",
      of: facts({}, { last: failedWith(contractError("CLOUD_CREDENTIALS_INVALID", "expired")) }),
      state: "blocked",
      reasons: ["InvalidCredentials"],
    },
    {
      what: "has a provider without credentials, by a replica that does not lead",
      of: facts(
        { status: { conditions: conditionsOf("PermissionDenied") } },
        { troubles: [cause("InvalidCredentials")] },
      ),
      state: "blocked",
      reasons: ["InvalidCredentials", "PermissionDenied"],
    },
    {
      what: "is throttled",
      of: facts({}, { last: failedWith(contractError("RATE_LIMITED", "slowly", { retryAfterMs: 7000 })) }),
      state: "waiting",
      reasons: ["Throttled"],
    },
    {
      what: "has a provider that is away",
      of: facts({}, { last: error({}), troubles: [cause("ProviderUnavailable", "Provider east: gone.")] }),
      state: "waiting",
      reasons: ["ProviderUnavailable"],
    },
    {
      what: "has a provider that has never reached its cloud",
      of: facts(
        { status: { conditions: conditionsOf("ProviderUnavailable") } },
        { last: failedWith(contractError("PROVIDER_STARTING", "east: no")), troubles: [cause("InvalidCredentials")] },
      ),
      state: "blocked",
      reasons: ["InvalidCredentials"],
    },
    {
      what: "waits for another change",
      of: facts(
        {},
        { last: remembered({ kind: "requeue_after", delayMs: 1, why: { reason: "busy", message: "busy" } }) },
      ),
      state: "waiting",
      reasons: ["CloudBusy"],
    },
    {
      what: "is well again though its condition is behind",
      of: facts({ status: { conditions: conditionsOf("Throttled") } }, { last: remembered({ kind: "success" }) }),
      state: "progressing",
      reasons: [],
    },
    {
      what: "has no nodes",
      of: facts({ status: { conditions: conditionsOf("NoAvailableNodes") } }),
      state: "blocked",
      reasons: ["NoAvailableNodes"],
    },
    {
      what: "is changed back each time",
      of: facts(
        { status: { conditions: conditionsOf("DriftNotRepaired") } },
        { last: remembered({ kind: "success" }) },
      ),
      state: "blocked",
      reasons: ["DriftNotRepaired"],
    },
    {
      what: "is broken",
      of: facts({ status: { conditions: conditionsOf("LoadBalancerFailed") } }),
      state: "blocked",
      reasons: ["LoadBalancerFailed"],
    },
    {
      what: "is observed",
      of: facts({}, { last: remembered({ kind: "planned" }) }),
      state: "unmanaged",
      reasons: ["ObserveMode"],
    },
    { what: "is going", of: facts(justGone), state: "progressing", reasons: [] },
    { what: "has been going for an hour", of: facts(gone), state: "waiting", reasons: ["DeletionStuck"] },
    {
      what: "has been going for an hour, and is another controller's",
      of: facts(
        { ...gone, spec: { loadBalancerClass: "x/y" } },
        { owner: { kind: "unowned", why: "no provider serves x/y" }, last: remembered({ kind: "success" }) },
      ),
      state: "unmanaged",
      reasons: ["LoadBalancerClassNotServed"],
    },
    {
      what: "is taken down by the provider that made it",
      of: facts(justGone, {
        owner: { kind: "unowned", why: "no provider serves x/y" },
        last: remembered({ kind: "requeue_after", delayMs: 1000 }),
      }),
      state: "progressing",
      reasons: [],
    },
    {
      what: "cannot go, for it is in use",
      of: facts(gone, { last: failedWith(contractError("DEPENDENCY_IN_USE", "network interface eni-1")) }),
      state: "blocked",
      reasons: ["DependencyInUse", "DeletionStuck"],
    },
    {
      what: "must not go, by its user's word",
      of: facts({ metadata: { ...justGone.metadata, annotations: { [DELETION_PROTECTION]: "true" } } }),
      state: "blocked",
      reasons: ["DeletionProtected"],
    },
    {
      what: "must not go, by the cloud's word",
      of: facts(justGone, { last: failedWith(contractError("DELETION_PROTECTED", "lb-1")) }),
      state: "blocked",
      reasons: ["DeletionProtected"],
    },
    {
      what: "cannot go while its provider is away",
      of: facts(justGone, { last: error({}), troubles: [cause("ProviderUnavailable")] }),
      state: "waiting",
      reasons: ["ProviderUnavailable"],
    },
    {
      what: "has given up its type",
      of: facts({ spec: { type: "ClusterIP" } }),
      state: "progressing",
      reasons: [],
    },
    {
      what: "is held by another program",
      of: facts({ metadata: { ...gone.metadata, finalizers: ["example.com/dns"] } }),
      state: "blocked",
      reasons: ["WaitingForFinalizers"],
    },
    {
      what: "goes and never wanted one",
      of: facts({ metadata: { ...gone.metadata, finalizers: ["example.com/dns"] }, spec: { type: "ClusterIP" } }),
      state: "unmanaged",
      reasons: [],
    },
    {
      what: "goes and was another program's",
      of: facts(
        { metadata: { ...gone.metadata, finalizers: ["example.com/lb"] }, spec: { loadBalancerClass: "x/y" } },
        { owner: { kind: "unowned", why: "no provider serves load-balancer class x/y" } },
      ),
      state: "unmanaged",
      reasons: [],
    },
  ])("of one that $what", ({ of, state, reasons }) => {
    const { causes, ...rest } = evaluateService(of);
    expect({ state: rest.state, reasons: causes.map(({ reason }) => reason) }).toEqual({ state, reasons });
  });

  test("names the unsupported field and the provider", () => {
    const { summary, desired } = evaluateService(
      facts({ spec: unsupported, status: { conditions: conditionsOf("Rejected") } }),
    );
    expect({ summary, desired }).toEqual({
      summary:
        "Provider east does not support it: spec.ports[0].protocol: port 5060/SCTP: the provider serves TCP only.",
      desired: [{ description: "load balancer with ports 5060/SCTP", state: "unmet", message: "no address yet" }],
    });
  });

  test("names the classes that are served", () => {
    const owner = { kind: "unowned", why: "no provider serves load-balancer class x/y" } as const;
    const of = facts({ metadata: { finalizers: [] }, spec: { loadBalancerClass: "x/y" } }, { owner, classes: ["a/b"] });
    expect(evaluateService(of).summary).toBe("No provider serves load-balancer class x/y; served classes: a/b.");
  });

  test("shows the address of a ready load balancer", () => {
    const status = { loadBalancer: { ingress: [ingress({ ip: "192.0.2.1" })] }, conditions: conditionsOf("Ready") };
    expect(evaluateService(facts({ status }))).toEqual({
      state: "ok",
      summary: "The load balancer matches the spec: 192.0.2.1.",
      causes: [],
      desired: [{ description: "load balancer with ports 80/TCP", state: "met" }],
    });
  });
});

test.each([
  ["QUOTA_EXCEEDED", "QuotaExceeded"],
  ["ADDRESS_IN_USE", "Conflict"],
  ["DELETION_PROTECTED", "DeletionProtected"],
  ["DEPENDENCY_IN_USE", "DependencyInUse"],
  ["NOT_READY", "CloudBusy"],
  ["STALE_GENERATION", "CloudBusy"],
  ["RATE_LIMITED", "Throttled"],
] as const)("after %s, the leader and a standby, which has only the condition, give reason %s", (reason, expected) => {
  const failure = new LoadBalancerSyncError("failed to ensure", { cause: contractError(reason, "why") });
  const conditions = conditionsOf(readinessOfFailure(failure)?.reason ?? "Ready");
  const evaluations = [
    evaluateService(facts({}, { last: failedWith(failure) })),
    evaluateService(facts({ status: { conditions } })),
  ];
  expect(evaluations.map(({ causes }) => causes[0]?.reason)).toEqual([expected, expected]);
});
