import type { Explanation, ObjectRef } from "@cloudwire/operator-api";
import type { Cluster } from "./clusters.ts";

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** What a controller would say of the object; undefined: it never heard of it. */
export function explanationOf({ rows, replica }: Cluster, object: ObjectRef): Explanation | undefined {
  const row = rows.get(object);
  const kind = (["node", "service", "route", "provider"] as const).find((known) => object.startsWith(`${known}/`));
  if (row === undefined || kind === undefined) return undefined;
  const isWell = row.reason === undefined;
  return {
    object,
    kind,
    time: new Date().toISOString(),
    replica,
    exists: true,
    state: row.state,
    summary: row.summary,
    causes: isWell
      ? []
      : [
          {
            reason: row.reason,
            message: row.summary,
            ...(row.state === "blocked"
              ? { remedy: "Request a higher quota, or delete resources that count against it." }
              : {}),
            documentation: "docs/guides/limits-and-capabilities.md",
          },
        ],
    ...(isWell ? {} : { nextRetry: { time: ago(-42), inMs: 42_000, message: "back-off after 3 failures" } }),
    desired: [
      {
        description: "load balancer with ports 80/TCP, 443/TCP",
        state: isWell ? "met" : "unmet",
        ...(isWell ? {} : { message: "none is there" }),
      },
      { description: "finalizer service.kubernetes.io/load-balancer-cleanup", state: "met" },
    ],
    facts: [
      { name: "UID", value: "6d0c2a3e-9f54-4f0c-9a41-1f2b6a3d7e90" },
      { name: "Generation", value: "3" },
    ],
    controllers: [
      {
        controller: "service-lb-controller",
        key: object.slice(object.indexOf("/") + 1),
        queue: isWell ? { kind: "idle" } : { kind: "delayed", dueTime: ago(-42), inMs: 42_000 },
        failures: isWell ? 0 : 3,
        last: {
          outcome: isWell ? "success" : "error",
          endTime: ago(18),
          durationMs: 214,
          reconcileID: "c2f1a7d0",
          ...(isWell
            ? {}
            : { error: { code: "RESOURCE_EXHAUSTED", message: "the quota of load balancers is used up (50 of 50)" } }),
        },
      },
      {
        controller: "node-route-controller",
        key: "cluster",
        queue: { kind: "notRunning", message: "the provider has no routes" },
        failures: 0,
      },
    ],
    provider: { name: "aws", connection: "ready", ready: true, reasons: [], throttled: [] },
    calls: [
      {
        time: ago(18),
        provider: "aws",
        method: "EnsureLoadBalancer",
        durationMs: 187,
        code: isWell ? "OK" : "RESOURCE_EXHAUSTED",
        ...(isWell ? {} : { reason: "QUOTA_EXHAUSTED", message: "the quota of load balancers is used up (50 of 50)" }),
        cloudRequestIds: ["req-8f2d61a0-77e1", "req-8f2d61a0-77e2"],
        objectCount: 1,
      },
      {
        time: ago(95),
        method: "GetInstances",
        durationMs: 41,
        code: "OK",
        cloudRequestIds: ["req-1c0b"],
        objectCount: 240,
      },
    ],
    timeline: Array.from({ length: 24 }, (_, index) => ({
      time: ago(18 + index * 37),
      kind: (["reconcile", "call", "event", "condition"] as const)[index % 4] ?? "object",
      source: "service-lb-controller",
      reason: index % 4 === 0 && !isWell ? "SyncLoadBalancerFailed" : "EnsuringLoadBalancer",
      message:
        index % 4 === 0 && !isWell ? "Error syncing load balancer: the quota is used up" : "Ensuring load balancer",
      isWarning: index % 4 === 0 && !isWell,
      ...(index === 0 && !isWell ? { count: 3 } : {}),
    })),
  };
}
