import { describe, expect, test } from "vitest";
import type { EventInput } from "../../api/event.ts";
import { ProviderError, contractError } from "../model/errors.ts";
import { type AuditedCall, auditEventSink, auditLine } from "./audit.ts";

const SERVICE = { namespace: "shop", name: "web", uid: "uid-1" };
const START_MS = Date.UTC(2026, 10, 23, 6, 0, 0, 7);
const SEQUENCE = String((BigInt(START_MS) << 20n) + 3n);

const ENSURE = {
  context: { scopeId: "project-1" },
  change: { requestId: "call-1", trigger: "service created", sequence: SEQUENCE },
  service: SERVICE,
  spec: { ports: [{ port: 80 }], annotations: { "acme/b": "2", "acme/a": "1" } },
  specFingerprint: "s1-x",
  nodes: { fingerprint: "n1-x", count: 2 },
};

const ROUTES = [
  { targetProviderId: "acme://1", targetNodeName: "n1", destinationCidr: "10.1.0.0/24" },
  { targetProviderId: "acme://2", targetNodeName: "n2", destinationCidr: "10.2.0.0/24" },
];
const [FIRST, SECOND] = [
  { destinationCidr: "10.1.0.0/24", node: "n1", targetProviderID: "acme://1" },
  { destinationCidr: "10.2.0.0/24", node: "n2", targetProviderID: "acme://2" },
];

const WORK: AuditedCall["work"] = {
  controller: "service-lb-controller",
  key: "shop/web",
  reconcileID: "reconcile-1",
  // As Kubernetes 1.36 has it of a Service: without generation.
  version: { resourceVersion: "42", generation: 0 },
};

/** As JSON has it: without what is not there. */
function line(call: Partial<AuditedCall>): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(
      auditLine({
        provider: "acme",
        method: "EnsureLoadBalancer",
        requestId: "call-1",
        work: WORK,
        startMs: START_MS,
        durationMs: 12.345_678,
        request: ENSURE,
        outcome: { response: {} },
        ...call,
      }),
    ),
  );
}

const digestOf = (request: unknown) => line({ request })["requestDigest"];

describe("auditLine()", () => {
  test("logs all of a change that was made", () => {
    const stats = { cloudCalls: 4, cloudMutations: 2, cloudRequestIds: ["c-1", "c-2"] };
    expect(line({ outcome: { response: { loadBalancer: { id: "lb-1" }, stats } } })).toEqual({
      time: "2026-11-23T06:00:00.007Z",
      controller: "service-lb-controller",
      key: "shop/web",
      reconcileID: "reconcile-1",
      resourceVersion: "42",
      trigger: "service created",
      provider: "acme",
      method: "EnsureLoadBalancer",
      requestID: "call-1",
      validateOnly: false,
      sequence: SEQUENCE,
      epoch: START_MS,
      service: SERVICE,
      loadBalancerID: "lb-1",
      specFingerprint: "s1-x",
      nodesFingerprint: "n1-x",
      requestDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      code: "OK",
      cloudCalls: 4,
      cloudMutations: 2,
      cloudRequestIDs: ["c-1", "c-2"],
      durationMs: 12.346,
    });
  });

  test.each<[string, Partial<AuditedCall>, object]>([
    [
      "a question, which has no place among changes",
      { request: { ...ENSURE, change: { requestId: "call-1", validateOnly: true } } },
      { validateOnly: true, code: "OK" },
    ],
    [
      "a refusal, without its free text",
      { outcome: { error: contractError("QUOTA_EXCEEDED", "key=hunter2", { cloudRequestIds: ["c-9"] }) } },
      { code: "RESOURCE_EXHAUSTED", reason: "QUOTA_EXCEEDED", cloudRequestIDs: ["c-9"] },
    ],
    [
      "a connection that broke, with unknown outcome",
      { outcome: { error: new ProviderError({ code: "UNKNOWN", message: "read ECONNRESET" }) } },
      { code: "UNKNOWN", cloudRequestIDs: [] },
    ],
    [
      "a deletion that goes on",
      { method: "DeleteLoadBalancer", request: { service: SERVICE, loadBalancerId: "lb-1" } },
      { loadBalancerID: "lb-1", done: false },
    ],
    [
      "a deletion that is done",
      { method: "DeleteLoadBalancer", request: { service: SERVICE }, outcome: { response: { done: true } } },
      { service: SERVICE, done: true },
    ],
    [
      "a set of nodes",
      { method: "ApplyNodeSet", request: { nodeSetId: "set-1", targetFingerprint: "n1-y", upserts: [{}] } },
      { nodeSetID: "set-1", nodesFingerprint: "n1-y", validateOnly: false },
    ],
    [
      "routes, each with what became of it",
      {
        method: "BatchDeleteRoutes",
        request: { routes: ROUTES },
        outcome: { response: { results: [{ route: {} }, { error: { code: 5, reason: "ROUTE_TARGET_NOT_FOUND" } }] } },
      },
      {
        code: "OK",
        routes: [
          { ...FIRST, code: "OK" },
          { ...SECOND, code: "NOT_FOUND", reason: "ROUTE_TARGET_NOT_FOUND" },
        ],
      },
    ],
    [
      "routes of a call that failed as a whole",
      {
        method: "BatchEnsureRoutes",
        request: { routes: ROUTES },
        outcome: { error: contractError("CLOUD_UNAVAILABLE", "down") },
      },
      { code: "UNAVAILABLE", routes: [FIRST, SECOND] },
    ],
    [
      "routes with an answer that fits them not",
      { method: "BatchEnsureRoutes", request: { routes: ROUTES }, outcome: { response: { results: [{ route: {} }] } } },
      { routes: [FIRST, SECOND] },
    ],
  ])("reports %s", (_, call, expected) => {
    expect(line(call)).toMatchObject(expected);
  });

  test("leaves out what is not there", () => {
    const question = line({ work: undefined, request: { change: { validateOnly: true } } });
    expect(Object.keys(question)).toEqual([
      "time",
      "provider",
      "method",
      "requestID",
      "validateOnly",
      "requestDigest",
      "code",
      "cloudRequestIDs",
      "durationMs",
    ]);
    expect(JSON.stringify(line({ outcome: { error: contractError("QUOTA_EXCEEDED", "key=hunter2") } }))).not.toContain(
      "hunter2",
    );
  });

  test("digests the request: caller, time and order of keys do not count", () => {
    const { spec, ...rest } = ENSURE;
    const annotations = { "acme/a": "1", "acme/b": "2" };
    const again = { spec: { annotations, ports: spec.ports }, ...rest, change: { requestId: "call-2" }, context: {} };
    expect(digestOf(again)).toBe(digestOf(ENSURE));
    expect(digestOf({ ...ENSURE, specFingerprint: "s1-y" })).not.toBe(digestOf(ENSURE));
    expect(digestOf({ ...ENSURE, spec: { ...spec, ports: [{ port: 81 }] } })).not.toBe(digestOf(ENSURE));
  });
});

describe("audit event sink", () => {
  const SERVICE = { namespace: "shop", name: "web", uid: "uid-1" };
  const change = { trigger: "service created" };
  const routes = [
    { targetProviderId: "acme://1", targetNodeName: "n1", destinationCidr: "10.1.0.0/24" },
    { targetProviderId: "acme://2", targetNodeName: "n2", destinationCidr: "10.2.0.0/24" },
  ];

  function reported(call: Partial<AuditedCall>) {
    const events: EventInput[] = [];
    const lines: unknown[] = [];
    const lost: unknown[] = [];
    const sink = auditEventSink({ write: (line) => lines.push(line), drop: (error) => lost.push(error) }, (event) =>
      events.push(event),
    );
    const line = auditLine({
      provider: "acme",
      method: "EnsureLoadBalancer",
      requestId: "call-1",
      work: undefined,
      startMs: 0,
      durationMs: 1,
      request: { service: SERVICE, change },
      outcome: { response: { stats: { cloudRequestIds: ["c-1", "c-2"] } } },
      ...call,
    });
    sink.write(line);
    expect(lines).toEqual([line]);
    return events.map(({ regarding: { kind, name, uid }, type, reason, message }) => {
      return `${kind} ${name} ${uid} ${type} ${reason}: ${message}`;
    });
  }

  test("a change of a load balancer is reported on its Service, with the ids for the cloud's log", () => {
    expect(reported({})).toEqual([
      "Service web uid-1 Normal ProviderChange: EnsureLoadBalancer at provider acme (service created): OK; request call-1, cloud requests c-1, c-2",
    ]);
  });

  test("one that failed is a warning with its reason", () => {
    const error = contractError("QUOTA_EXCEEDED", "no room, and key=hunter2");
    expect(reported({ method: "DeleteLoadBalancer", outcome: { error } })).toEqual([
      "Service web uid-1 Warning ProviderChangeFailed: DeleteLoadBalancer at provider acme (service created): RESOURCE_EXHAUSTED QUOTA_EXCEEDED; request call-1",
    ]);
  });

  test("routes are reported on their Nodes, each with its outcome", () => {
    const results = [{}, { error: { code: 6, reason: "CIDR_CONFLICT" } }];
    expect(reported({ method: "BatchEnsureRoutes", request: { routes }, outcome: { response: { results } } })).toEqual([
      "Node n1 n1 Normal ProviderChange: BatchEnsureRoutes of route 10.1.0.0/24 at provider acme: OK; request call-1",
      "Node n2 n2 Warning ProviderChangeFailed: BatchEnsureRoutes of route 10.2.0.0/24 at provider acme: ALREADY_EXISTS CIDR_CONFLICT; request call-1",
    ]);
  });

  test("a question, and a set of nodes that belongs to no object, are not reported", () => {
    const asked = reported({ request: { service: SERVICE, change: { validateOnly: true } } });
    const ofNodes = reported({ method: "ApplyNodeSet", request: { nodeSetId: "set-1" } });
    expect([asked, ofNodes]).toEqual([[], []]);
  });

  test("what is lost is lost in the log alone", () => {
    const lost: unknown[] = [];
    const fault = new Error("unreadable");
    auditEventSink({ write: () => undefined, drop: (error) => lost.push(error) }, () => undefined).drop(fault);
    expect(lost).toEqual([fault]);
  });
});
