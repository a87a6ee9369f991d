import type { AuditEvent } from "@cloudwire/control-plane";

const WRITES = new Set(["create", "update", "patch", "delete"]);

export interface ApiWrites {
  /** Without events and leases. */
  readonly apiWrites: number;
  readonly events: number;
}

/** What was written since then, by the API server's audit log. */
export function countWrites(log: readonly AuditEvent[], sinceMs: number): ApiWrites {
  const all = log.filter(
    ({ verb, resource, stage, receivedAt }) =>
      WRITES.has(verb) && resource !== "leases" && stage === "ResponseComplete" && Date.parse(receivedAt) >= sinceMs,
  );
  const events = all.filter(({ resource }) => resource === "events").length;
  return { apiWrites: all.length - events, events };
}
