import { ChangeAction, ConditionStatus, PlannedChange, Severity } from "@cloudwire/proto/cloudprovider/v1/common";
import { IpMode, Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { LoadBalancer, LoadBalancerIngress, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { describe, expect, test } from "vitest";
import {
  conditionFromProto,
  diagnosticFromProto,
  ingressFromProto,
  loadBalancerFromProto,
  nodeSelectionToProto,
  operationFromProto,
  plannedChangeFromProto,
} from "./load-balancer.ts";

describe("ingressFromProto()", () => {
  test.each([
    [
      "an address without mode, as the server stores it",
      { ip: "203.0.113.1" },
      [{ ip: "203.0.113.1", hostname: "", ipMode: "VIP" }],
    ],
    [
      "an address of mode VIP",
      { ip: "203.0.113.1", ipMode: IpMode.VIP },
      [{ ip: "203.0.113.1", hostname: "", ipMode: "VIP" }],
    ],
    [
      "an address of mode Proxy",
      { ip: "203.0.113.1", ipMode: IpMode.PROXY },
      [{ ip: "203.0.113.1", hostname: "", ipMode: "Proxy" }],
    ],
    [
      "a name, whose mode the server would refuse",
      { hostname: "lb.example.com", ipMode: IpMode.VIP },
      [{ ip: "", hostname: "lb.example.com", ipMode: undefined }],
    ],
    [
      "both",
      { ip: "203.0.113.1", hostname: "lb.example.com" },
      [{ ip: "203.0.113.1", hostname: "lb.example.com", ipMode: "VIP" }],
    ],
    ["neither", {}, []],
  ])("reads %s", (_, wire, expected) => {
    expect(ingressFromProto(LoadBalancerIngress.fromPartial(wire))).toEqual(
      expected.map((point) => ({ ...point, ports: [] })),
    );
  });

  test("passes the state of ports through", () => {
    const wire = LoadBalancerIngress.fromPartial({
      ip: "203.0.113.1",
      ports: [
        { port: 80, protocol: Protocol.TCP },
        { port: 53, protocol: Protocol.UDP, error: "PortTaken" },
        { port: 54, protocol: Protocol.SCTP, error: "" },
        { port: 55, protocol: Protocol.UNRECOGNIZED },
      ],
    });
    expect(ingressFromProto(wire)[0]?.ports).toEqual([
      { port: 80, protocol: "TCP", error: undefined },
      { port: 53, protocol: "UDP", error: "PortTaken" },
      { port: 54, protocol: "SCTP", error: undefined },
    ]);
  });
});

describe("loadBalancerFromProto()", () => {
  test("reads everything that is kept with a load balancer", () => {
    const wire = LoadBalancer.fromPartial({
      id: "lb-1",
      service: { namespace: "default", name: "web", uid: "u" },
      phase: LoadBalancerPhase.ACTIVE,
      specFingerprint: "s1-a",
      nodesFingerprint: "n1-b",
      observedFingerprint: "o",
      registeredNodes: 0,
      tags: { env: "prod" },
      lockKey: "alb-1",
      previousObservedFingerprint: "before",
    });
    expect(loadBalancerFromProto(wire)).toEqual({
      id: "lb-1",
      service: { namespace: "default", name: "web", uid: "u" },
      phase: "active",
      ingress: undefined,
      specFingerprint: "s1-a",
      nodesFingerprint: "n1-b",
      observedFingerprint: "o",
      registeredNodes: 0,
      conditions: [],
      operation: undefined,
      tags: { env: "prod" },
      lockKey: "alb-1",
      unregisteredNodes: [],
      previousObservedFingerprint: "before",
    });
  });

  test("never acknowledges nodes that are not all targets, whatever the provider stores (case S-2)", () => {
    const [name, reason, message] = ["a", "InstanceStopped", "Start the instance."];
    const wire = LoadBalancer.fromPartial({
      id: "lb-1",
      service: { uid: "u" },
      nodesFingerprint: "n1-b",
      unregisteredNodes: [{ name, providerId: "acme://1", reason, message }],
    });
    expect(loadBalancerFromProto(wire)).toMatchObject({
      nodesFingerprint: "",
      unregisteredNodes: [{ name, reason, message }],
    });
  });

  test.each([
    ["not reported", undefined, undefined],
    ["that there is none", { items: [] }, []],
  ])("distinguishes an ingress that is %s", (_what, ingress, read) => {
    const wire = LoadBalancer.fromPartial({ id: "lb-1", service: { uid: "u" }, ingress });
    expect(loadBalancerFromProto(wire)?.ingress).toEqual(read);
  });

  test.each([
    ["no Service", undefined],
    ["a Service without UID", { namespace: "default", name: "web" }],
  ])("knows nothing of one with %s", (_, owner) => {
    expect(loadBalancerFromProto(LoadBalancer.fromPartial({ id: "lb-1", service: owner }))).toBeUndefined();
  });

  test.each([
    [LoadBalancerPhase.UNSPECIFIED, "unknown"],
    [LoadBalancerPhase.PROVISIONING, "provisioning"],
    [LoadBalancerPhase.UPDATING, "updating"],
    [LoadBalancerPhase.DELETING, "deleting"],
    [LoadBalancerPhase.FAILED, "failed"],
    [LoadBalancerPhase.UNRECOGNIZED, "unknown"],
  ] as const)("reads phase %i as %s", (phase, expected) => {
    expect(loadBalancerFromProto(LoadBalancer.fromPartial({ phase, service: { uid: "u" } }))?.phase).toBe(expected);
  });
});

describe("operationFromProto()", () => {
  test.each([
    ["absent: asked again soon", undefined, 1000],
    ["too short: not a busy loop", { seconds: 0n, nanos: 1 }, 1000],
    ["within limits", { seconds: 7n, nanos: 500_000_000 }, 7500],
    ["too long: never forgotten", { seconds: 3600n, nanos: 0 }, 60_000],
  ])("keeps poll_after within limits when it is %s", (_, pollAfter, expected) => {
    const operation = operationFromProto({
      id: "op",
      stage: "health checks",
      pollAfter,
      startTime: undefined,
      expectedEndTime: undefined,
      message: "",
    });
    expect(operation).toEqual({
      id: "op",
      stage: "health checks",
      progressPercent: undefined,
      pollAfterMs: expected,
      message: "",
    });
  });
});

const TARGET = { name: "n1", providerId: "acme://1", addresses: [], labels: {} };

test.each([
  [{ kind: "inline", nodes: [TARGET] } as const, { $case: "inline", value: { nodes: [TARGET] } }],
  [{ kind: "nodeSet", id: "all" } as const, { $case: "nodeSetId", value: "all" }],
  [{ kind: "unchanged" } as const, { $case: "unchanged", value: {} }],
])("nodeSelectionToProto() turns %j into its wire form", (source, expected) => {
  expect(nodeSelectionToProto({ fingerprint: "n1-a", count: 3, source })).toEqual({
    fingerprint: "n1-a",
    count: 3,
    source: expected,
  });
});

test.each([
  [Severity.INFO, "info"],
  [Severity.WARNING, "warning"],
  [Severity.ERROR, "error"],
])("diagnosticFromProto() reads severity %i as %s", (severity, expected) => {
  const diagnostic = { severity, reason: "R", summary: "s", detail: "d", field: "f", helpUrl: "h" };
  expect(diagnosticFromProto(diagnostic)).toEqual({ ...diagnostic, severity: expected });
});

test.each([
  [ConditionStatus.TRUE, "True"],
  [ConditionStatus.FALSE, "False"],
  [ConditionStatus.UNSPECIFIED, "Unknown"],
])("conditionFromProto() reads status %i as %s", (status, expected) => {
  const condition = { type: "T", status, reason: "R", message: "m", lastTransitionTime: new Date(5000) };
  const { lastTransitionTime: _, ...rest } = condition;
  expect(conditionFromProto(condition)).toEqual({ ...rest, status: expected, lastTransitionTimeMs: 5000 });
});

test.each([
  [ChangeAction.CREATE, "create"],
  [ChangeAction.UPDATE, "update"],
  [ChangeAction.DELETE, "delete"],
  [ChangeAction.REPLACE, "replace"],
  [ChangeAction.UNRECOGNIZED, "unknown"],
])("plannedChangeFromProto() reads action %i as %s", (action, expected) => {
  const change = { action, resourceType: "listener", resourceId: "l-1", summary: "s" };
  expect(plannedChangeFromProto(PlannedChange.fromPartial(change))).toEqual({ ...change, action: expected });
});

test("what is newer than this program gets the contract's meaning of unspecified", () => {
  const diagnostic = { severity: Severity.UNRECOGNIZED, reason: "R", summary: "s", detail: "", field: "", helpUrl: "" };
  expect(diagnosticFromProto(diagnostic).severity).toBe("warning");
  const condition = {
    type: "T",
    status: ConditionStatus.UNRECOGNIZED,
    reason: "",
    message: "",
    lastTransitionTime: undefined,
  };
  expect(conditionFromProto(condition).status).toBe("Unknown");
});
