import type { AuditEvent } from "@cloudwire/control-plane";
import { expect, test } from "vitest";
import { countWrites } from "./observations.ts";

const event = (parts: Partial<AuditEvent>): AuditEvent => ({
  auditId: "1",
  stage: "ResponseComplete",
  verb: "patch",
  requestUri: "/api/v1/nodes/n",
  user: "peer",
  groups: [],
  userAgent: "",
  resource: "nodes",
  subresource: undefined,
  namespace: undefined,
  name: "n",
  code: 200,
  receivedAt: "2026-01-01T00:00:10.000Z",
  requestObject: undefined,
  responseObject: undefined,
  ...parts,
});

test("countWrites() counts what was written since then, events apart, and no leases", () => {
  const log = [
    event({}),
    event({ verb: "create", resource: "events" }),
    event({ verb: "get" }),
    event({ stage: "ResponseStarted" }),
    event({ resource: "leases", verb: "update" }),
    event({ receivedAt: "2026-01-01T00:00:09.000Z" }),
  ];
  expect(countWrites(log, Date.parse("2026-01-01T00:00:10.000Z"))).toEqual({ apiWrites: 1, events: 1 });
});
