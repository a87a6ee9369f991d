import { describe, expect, test } from "vitest";
import { ingress, service } from "../../../../test/support/builders.ts";
import { held, known, making, updating } from "../../../../test/support/service/service-plan-builders.ts";
import type { Condition } from "../../../api/meta.ts";
import {
  deleting,
  PROTECTED,
  type Readiness,
  addFinalizerPatch,
  cleanedUpPatch,
  driftNotRepaired,
  ingressPatch,
  readinessItems,
  readinessOf,
  reportedReadiness,
  withConditions,
  withoutReadiness,
} from "./status.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");
const TYPE = "cloudwire.dev/LoadBalancerReady";
const other: Condition = {
  type: "example.com/Other",
  status: "True",
  observedGeneration: 0,
  lastTransitionTimeMs: 1000,
  reason: "R",
  message: "m",
};
const ready: Readiness = { status: "True", reason: "Ready", message: "fine" };
const reported: Condition = { ...other, type: TYPE, reason: "Ready", message: "fine", lastTransitionTimeMs: 3_600_000 };
const saying = (...conditions: readonly Condition[]) =>
  service("web", { metadata: { generation: 0 }, status: { loadBalancer: { ingress: [] }, conditions } });

describe("readinessOf()", () => {
  const serving = service("web", {
    status: { loadBalancer: { ingress: [ingress({ ip: "192.0.2.1" })] }, conditions: [] },
  });

  test.each([
    { it: "is Ready when all is done", service: held, present: known, nodes: 2, want: ["True", "Ready"] },
    {
      it: "is NoAvailableNodes when nothing could be forwarded to",
      service: held,
      present: known,
      nodes: 0,
      want: ["False", "NoAvailableNodes"],
    },
    {
      it: "is Provisioning while it is made",
      service: held,
      present: making,
      nodes: 0,
      want: ["False", "Provisioning"],
    },
    {
      it: "is Updating while one that serves is changed",
      service: held,
      present: { ...making, ingress: [] },
      nodes: 2,
      want: ["False", "Updating"],
    },
    {
      it: "is Updating while one is changed whose address is published",
      service: serving,
      present: making,
      nodes: 2,
      want: ["False", "Updating"],
    },
  ])("$it", ({ service: given, present, nodes, want }) => {
    const readiness = readinessOf(given, present, nodes);
    expect([readiness?.status, readiness?.reason]).toEqual(want);
  });

  test("is nothing new while nodes are updated", () => {
    expect(readinessOf(held, updating, 2)).toBeUndefined();
  });
});

test("each state says for people what it means, and what to do", () => {
  const messages = [readinessOf(held, known, 2), readinessOf(held, known, 0), readinessOf(held, making, 2)];
  messages.push(readinessOf(held, { ...making, ingress: [] }, 2), deleting(""), PROTECTED);
  expect(messages.map((readiness) => readiness?.message)).toEqual([
    "The load balancer matches the spec of the Service.",
    "The load balancer has no available nodes to forward traffic to. To fix: check which Nodes are initialized, and which have the label node.kubernetes.io/exclude-from-external-load-balancers.",
    "The load balancer is being created.",
    "The load balancer is being updated; until then it serves the previous configuration.",
    "The load balancer is being deleted; the Service is deleted afterwards.",
    'Annotation service.cloudwire.dev/deletion-protection protects the load balancer and the Service from deletion. To delete both, set it to "false".',
  ]);
});

test("driftNotRepaired() says what was changed back", () => {
  expect(driftNotRepaired({ kind: "changed", what: "a port is missing" })).toEqual({
    status: "False",
    reason: "DriftNotRepaired",
    message:
      "A port is missing. The controller repaired the load balancer several times, and it was changed back each time. The next repair is in a day, or when the Service changes. To fix: find out what changes the load balancer in the cloud.",
  });
});

describe("readinessItems()", () => {
  test("writes the whole condition where there is none", () => {
    expect(readinessItems(saying(other), ready, NOW_MS)).toEqual([
      { type: TYPE, status: "True", reason: "Ready", message: "fine", lastTransitionTime: "2026-01-02T03:04:05Z" },
    ]);
  });

  test.each([
    { it: "another reason", wanted: { status: "True", reason: "Provisioning", message: "fine" } as const },
    { it: "another wording", wanted: { status: "True", reason: "Ready", message: "finer" } as const },
  ])("keeps the time of transition for $it of the same status", ({ wanted }) => {
    const [item] = readinessItems(saying(reported, other), wanted, NOW_MS) ?? [];
    expect(item).toEqual({ type: TYPE, ...wanted, lastTransitionTime: "1970-01-01T01:00:00Z" });
  });

  test("moves the time of transition with the status", () => {
    const [item] =
      readinessItems(saying(reported), { status: "False", reason: "Ready", message: "fine" }, NOW_MS) ?? [];
    expect(item).toMatchObject({ status: "False", lastTransitionTime: "2026-01-02T03:04:05Z" });
  });

  test("is nothing when the Service says so already", () => {
    expect(readinessItems(saying(other, reported), ready, NOW_MS)).toBeUndefined();
  });

  test.each([
    { attempt: "another request ID", before: "no, request ID: …", now: "no, request ID: 77ab12", wanted: undefined },
    { attempt: "another labeled ID first", before: "ok", now: "no, request ID: 77ab12", wanted: "no, request ID: …" },
    { attempt: "another ID", before: "no 0af76519cd43", now: "no 8448eb211c80", wanted: "no …" },
    { attempt: "a third ID", before: "no …", now: "no 0123456789ab", wanted: undefined },
    { attempt: "the same ID", before: "no 0af76519cd43", now: "no 0af76519cd43", wanted: undefined },
    { attempt: "another text", before: "no …", now: "never 0af76519cd43", wanted: "never 0af76519cd43" },
  ])("writes a stable message for $attempt (case S-11)", ({ before, now, wanted }) => {
    const [item] = readinessItems(saying({ ...reported, message: before }), { ...ready, message: now }, NOW_MS) ?? [];
    expect(item?.["message"]).toBe(wanted);
  });

  test("shows an ID that the Service requests, also after it requested another one (case S-11)", () => {
    const before = saying({ ...reported, message: "no subnet 0af76519cd43 (trace 5b2695182aeb)" });
    const metadata = { ...before.metadata, annotations: { "acme.example.com/subnet": "8448eb211c80" } };
    const wanted = { ...ready, message: "no subnet 8448eb211c80 (trace 67e7f520026e)" };
    const [item] = readinessItems({ ...before, metadata }, wanted, NOW_MS) ?? [];
    expect(item?.["message"]).toBe("no subnet 8448eb211c80 (trace 67e7f520026e)");
    const again = saying({ ...reported, message: wanted.message });
    const later = { ...wanted, message: "no subnet 8448eb211c80 (trace 0123456789ab)" };
    const [next] = readinessItems({ ...again, metadata }, later, NOW_MS) ?? [];
    expect(next?.["message"]).toBe("no subnet 8448eb211c80 (trace …)");
  });

  test("names the generation where Services have one, and follows it", () => {
    const at = (generation: number) => ({ ...saying(reported), metadata: { ...saying().metadata, generation } });
    expect(readinessItems(at(7), ready, NOW_MS)).toMatchObject([{ observedGeneration: 7 }]);
  });
});

describe("withoutReadiness()", () => {
  test("names the condition to take away", () => {
    expect(withoutReadiness(saying(other, reported))).toEqual([{ $patch: "delete", type: TYPE }]);
  });

  test("is nothing when there is none", () => {
    expect([withoutReadiness(saying(other)), reportedReadiness(saying(other))]).toEqual([undefined, undefined]);
  });
});

describe("patches", () => {
  const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
  const uid = "uid-default-web";
  const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });
  const reported = {
    type: "cloudwire.dev/LoadBalancerReady",
    status: "True",
    reason: "Ready",
    message: "",
    observedGeneration: 0,
    lastTransitionTimeMs: 0,
  };
  const unsaid = { $patch: "delete", type: reported.type };

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
        given: service("web", { status: { conditions: [reported] } }),
        want: { metadata: { uid }, status: { conditions: [unsaid] } },
      },
      {
        it: "takes away all three in one write",
        given: service("web", {
          metadata: { finalizers: [FINALIZER] },
          status: { loadBalancer: { ingress: [vip] }, conditions: [reported] },
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
});
