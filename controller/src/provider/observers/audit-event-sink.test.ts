import { expect, test } from "vitest";
import type { EventInput } from "../../api/event.ts";
import { auditEventSink } from "./audit-event-sink.ts";
import { auditLine, type AuditedCall } from "./audit.ts";
import { contractError } from "../model/errors.ts";

const SERVICE = { namespace: "shop", name: "web", uid: "uid-1" };
const change = { trigger: "service created" };
const routes = [
  { targetProviderId: "acme://1", targetNodeName: "n1", destinationCidr: "10.1.0.0/24" },
  { targetProviderId: "acme://2", targetNodeName: "n2", destinationCidr: "10.2.0.0/24" },
];

function told(call: Partial<AuditedCall>) {
  const events: EventInput[] = [];
  const lines: unknown[] = [];
  const lost: unknown[] = [];
  const sink = auditEventSink({ write: (line) => lines.push(line), lose: (error) => lost.push(error) }, (event) =>
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

test("a change of a load balancer is told on its Service, with the ids for the cloud's log", () => {
  expect(told({})).toEqual([
    "Service web uid-1 Normal ProviderChange: EnsureLoadBalancer at provider acme (service created): OK; request call-1, at the cloud c-1, c-2",
  ]);
});

test("one that failed is a warning with its reason", () => {
  const error = contractError("QUOTA_EXCEEDED", "no room, and key=hunter2");
  expect(told({ method: "DeleteLoadBalancer", outcome: { error } })).toEqual([
    "Service web uid-1 Warning ProviderChangeFailed: DeleteLoadBalancer at provider acme (service created): RESOURCE_EXHAUSTED QUOTA_EXCEEDED; request call-1",
  ]);
});

test("routes are told on their Nodes, each with what became of it", () => {
  const results = [{}, { error: { code: 6, reason: "CIDR_CONFLICT" } }];
  expect(told({ method: "BatchEnsureRoutes", request: { routes }, outcome: { response: { results } } })).toEqual([
    "Node n1 n1 Normal ProviderChange: BatchEnsureRoutes of route 10.1.0.0/24 at provider acme: OK; request call-1",
    "Node n2 n2 Warning ProviderChangeFailed: BatchEnsureRoutes of route 10.2.0.0/24 at provider acme: ALREADY_EXISTS CIDR_CONFLICT; request call-1",
  ]);
});

test("a question, and a set of nodes that belongs to no object, are not told", () => {
  const asked = told({ request: { service: SERVICE, change: { validateOnly: true } } });
  const ofNodes = told({ method: "ApplyNodeSet", request: { nodeSetId: "set-1" } });
  expect([asked, ofNodes]).toEqual([[], []]);
});

test("what is lost is lost in the log alone", () => {
  const lost: unknown[] = [];
  const fault = new Error("unreadable");
  auditEventSink({ write: () => undefined, lose: (error) => lost.push(error) }, () => undefined).lose(fault);
  expect(lost).toEqual([fault]);
});
