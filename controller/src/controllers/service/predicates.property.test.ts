import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { service as serviceOf, servicePort } from "../../../test/support/builders.ts";
import { breaksIgnoring, breaksSplitting, breaksSymmetry } from "../../../test/support/predicate-properties.ts";
import { LOAD_BALANCER_CLEANUP } from "../../api/well-known.ts";
import type { Service } from "../../api/service.ts";
import { changesTargets, concernsAdded, concernsUpdated, needsCleanup, needsUpdate } from "./predicates.ts";

const RUNS = { numRuns: 1000 };

/** Services of one name that often agree. */
const anyService: fc.Arbitrary<Service> = fc
  .record({
    uid: fc.constantFrom("uid-1", "uid-1", "uid-1", "uid-2"),
    resourceVersion: fc.nat(9).map(String),
    labels: fc.constantFrom({}, { a: "" }),
    annotations: fc.constantFrom({}, {}, { "acme.example.com/tier": "fast" }),
    finalizers: fc.subarray([LOAD_BALANCER_CLEANUP, "other"]),
    deletionTimestampMs: fc.constantFrom(undefined, undefined, 5000),
    spec: fc.record({
      type: fc.constantFrom("LoadBalancer", "LoadBalancer", "ClusterIP"),
      loadBalancerClass: fc.constantFrom(undefined, undefined, "acme.example.com/lb"),
      externalTrafficPolicy: fc.constantFrom("Cluster", "Cluster", "Local"),
      ports: fc.subarray([servicePort(), servicePort({ port: 443 })], { minLength: 1 }),
      internalTrafficPolicy: fc.constantFrom("Cluster", "Local"),
    }),
    ingress: fc.constantFrom([], [{ ip: "203.0.113.1", hostname: "", ipMode: undefined, ports: [] }]),
  })
  .map(({ spec, ingress, ...metadata }) => {
    return serviceOf("web", { metadata, spec, status: { loadBalancer: { ingress } } });
  });

/** `service` as `other` would have it in what no load balancer depends on. */
function withOutwards(service: Service, { metadata, spec, status }: Service): Service {
  const { resourceVersion, labels } = metadata;
  return {
    metadata: { ...service.metadata, resourceVersion, labels },
    spec: { ...service.spec, internalTrafficPolicy: spec.internalTrafficPolicy },
    status,
  };
}

describe("needsUpdate()", () => {
  test("is false for what no load balancer depends on, its own status above all", () => {
    fc.assert(
      fc.property(anyService, anyService, (old, other) => {
        const service = withOutwards(old, other);
        expect([needsUpdate(old, service), concernsUpdated(old, service)]).toEqual([false, false]);
      }),
      RUNS,
    );
  });

  test("is the same in either direction", () => {
    fc.assert(
      fc.property(anyService, anyService, (old, service) => {
        expect(needsUpdate(old, service)).toBe(needsUpdate(service, old));
      }),
      RUNS,
    );
  });
});

describe("concernsUpdated()", () => {
  test("is true for every Service whose spec changes, whose load balancer must be deleted, or that would leak one", () => {
    fc.assert(
      fc.property(anyService, anyService, (old, service) => {
        const begins = needsCleanup(service) && !needsCleanup(old);
        const leaks =
          concernsAdded(service) &&
          old.metadata.finalizers.includes(LOAD_BALANCER_CLEANUP) &&
          !service.metadata.finalizers.includes(LOAD_BALANCER_CLEANUP);
        expect(!(needsUpdate(old, service) || begins || leaks) || concernsUpdated(old, service)).toBe(true);
      }),
      RUNS,
    );
  });

  test("detects a change that arrives in two steps", () => {
    fc.assert(
      fc.property(anyService, anyService, anyService, (old, between, service) => {
        const isHeard = concernsUpdated(old, between) || concernsUpdated(between, service);
        expect(!concernsUpdated(old, service) || isHeard).toBe(true);
      }),
      RUNS,
    );
  });
});

describe("changesTargets()", () => {
  test("is false for what targets do not depend on", () => {
    const inSpec = ["podCIDRs", "unschedulable"] as const;
    const parts = ["version", "annotations", ...inSpec, "conditions", "nodeInfo"] as const;
    expect(breaksIgnoring(changesTargets, parts)).toBeNull();
  });

  test("is the same in either direction", () => {
    expect(breaksSymmetry(changesTargets)).toBeNull();
  });

  test("detects a change that arrives in two steps", () => {
    expect(breaksSplitting(changesTargets)).toBeNull();
  });
});
