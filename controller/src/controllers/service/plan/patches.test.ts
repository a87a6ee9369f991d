import { describe, expect, test } from "vitest";
import { ingress, service } from "../../../../test/support/builders.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch, withConditions } from "./patches.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const uid = "uid-default-web";
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });
const told = {
  type: "cloudwire.dev/LoadBalancerReady",
  status: "True",
  reason: "Ready",
  message: "",
  observedGeneration: 0,
  lastTransitionTimeMs: 0,
};
const unsaid = { $patch: "delete", type: told.type };

describe("addFinalizerPatch()", () => {
  test("adds ours to a Service that has none", () => {
    expect(addFinalizerPatch(service("web"))).toEqual({ metadata: { uid, finalizers: [FINALIZER] } });
  });

  test("adds ours behind those of others", () => {
    expect(addFinalizerPatch(service("web", { metadata: { finalizers: ["other"] } }))).toEqual({
      metadata: { uid, "$setElementOrder/finalizers": ["other", FINALIZER], finalizers: [FINALIZER] },
    });
  });

  test("is nothing when ours is there", () => {
    expect(addFinalizerPatch(service("web", { metadata: { finalizers: [FINALIZER] } }))).toBeUndefined();
  });
});

describe("cleanedUpPatch()", () => {
  test.each([
    {
      it: "takes off ours alone, and the ingress",
      given: service("web", {
        metadata: { finalizers: ["other", FINALIZER] },
        status: { loadBalancer: { ingress: [vip] } },
      }),
      want: {
        metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] },
        status: { loadBalancer: { ingress: null } },
      },
    },
    {
      it: "says nothing of an ingress that is not there",
      given: service("web", { metadata: { finalizers: [FINALIZER] } }),
      want: { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] } },
    },
    {
      it: "clears the ingress of a Service without our finalizer",
      given: service("web", { status: { loadBalancer: { ingress: [vip] } } }),
      want: { metadata: { uid }, status: { loadBalancer: { ingress: null } } },
    },
    {
      it: "takes away what the condition says, even if nothing else is left",
      given: service("web", { status: { conditions: [told] } }),
      want: { metadata: { uid }, status: { conditions: [unsaid] } },
    },
    {
      it: "takes away all three in one write",
      given: service("web", {
        metadata: { finalizers: [FINALIZER] },
        status: { loadBalancer: { ingress: [vip] }, conditions: [told] },
      }),
      want: {
        metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] },
        status: { loadBalancer: { ingress: null }, conditions: [unsaid] },
      },
    },
  ])("$it", ({ given, want }) => {
    expect(cleanedUpPatch(given)).toEqual(want);
  });

  test("is nothing when neither is there", () => {
    expect(cleanedUpPatch(service("web", { metadata: { finalizers: ["other"] } }))).toBeUndefined();
  });
});

describe("ingressPatch()", () => {
  test("writes only what is set", () => {
    const points = [
      vip,
      ingress({ hostname: "lb.example" }),
      ingress({
        ip: "192.0.2.2",
        ipMode: "Proxy",
        ports: [
          { port: 80, protocol: "TCP", error: undefined },
          { port: 81, protocol: "UDP", error: "NoQuota" },
        ],
      }),
    ];
    expect(ingressPatch(service("web"), points)).toStrictEqual({
      metadata: { uid },
      status: {
        loadBalancer: {
          ingress: [
            { ip: "192.0.2.1", ipMode: "VIP" },
            { hostname: "lb.example" },
            {
              ip: "192.0.2.2",
              ipMode: "Proxy",
              ports: [
                { port: 80, protocol: "TCP" },
                { port: 81, protocol: "UDP", error: "NoQuota" },
              ],
            },
          ],
        },
      },
    });
  });

  test("clears the list when the load balancer has no address any more", () => {
    expect(ingressPatch(service("web", { status: { loadBalancer: { ingress: [vip] } } }), [])).toEqual({
      metadata: { uid },
      status: { loadBalancer: { ingress: null } },
    });
  });

  test("is nothing when the Service says so already", () => {
    expect(ingressPatch(service("web", { status: { loadBalancer: { ingress: [vip] } } }), [vip])).toBeUndefined();
  });
});

describe("withConditions()", () => {
  const items = [{ type: "t" }];
  const address = ingressPatch(service("web"), [vip]);

  test.each([
    { it: "is the patch alone without conditions", patch: address, conditions: undefined, want: address },
    {
      it: "is the conditions alone without patch",
      patch: undefined,
      conditions: items,
      want: { metadata: { uid }, status: { conditions: items } },
    },
    {
      it: "is both in one",
      patch: address,
      conditions: items,
      want: { metadata: { uid }, status: { ...address?.status, conditions: items } },
    },
    {
      it: "keeps what is said of finalizers",
      patch: addFinalizerPatch(service("web")),
      conditions: items,
      want: { metadata: { uid, finalizers: [FINALIZER] }, status: { conditions: items } },
    },
    { it: "is nothing without either", patch: undefined, conditions: undefined, want: undefined },
  ])("$it", ({ patch, conditions, want }) => {
    expect(withConditions(service("web"), patch, conditions)).toEqual(want);
  });
});
