import { describe, expect, test } from "vitest";
import { ingress, service } from "../../../../test/support/builders.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "./patches.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const uid = "uid-default-web";
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });

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
    expect(ingressPatch(service("web"), points)).toEqual({
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
