import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type AuditOptions, auditPolicy, readAuditLog } from "./audit.ts";

describe("auditPolicy()", () => {
  it.each<[string, AuditOptions, readonly unknown[]]>([
    ["everybody", {}, [{ level: "RequestResponse" }]],
    ["given users", { users: ["a"], level: "Metadata" }, [{ level: "Metadata", users: ["a"] }]],
    [
      "given users and, besides, given groups",
      { users: ["a"], groups: ["g"] },
      [
        { level: "RequestResponse", users: ["a"] },
        { level: "RequestResponse", userGroups: ["g"] },
      ],
    ],
  ])("records %s and no one else", (_, options, rules) => {
    expect(JSON.parse(auditPolicy(options))).toEqual({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived"],
      rules: [...rules, { level: "None" }],
    });
  });
});

describe("readAuditLog()", () => {
  const written = {
    auditID: "1",
    stage: "ResponseComplete",
    verb: "patch",
    requestURI: "/api/v1/nodes/a/status",
    user: { username: "alice", groups: ["g"] },
    userAgent: "test",
    objectRef: { resource: "nodes", subresource: "status", name: "a" },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
    requestObject: { status: {} },
  };

  it("reads the complete lines", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "audit-test-"));
    const file = path.join(dir, "audit.log");
    await writeFile(file, `${JSON.stringify(written)}\n{"auditID":"half`);
    expect(await readAuditLog(file)).toEqual([
      {
        auditId: "1",
        stage: "ResponseComplete",
        verb: "patch",
        requestUri: "/api/v1/nodes/a/status",
        user: "alice",
        groups: ["g"],
        userAgent: "test",
        resource: "nodes",
        subresource: "status",
        namespace: undefined,
        name: "a",
        code: 200,
        receivedAt: "2026-01-01T00:00:00.000000Z",
        requestObject: { status: {} },
        responseObject: undefined,
      },
    ]);
    await rm(dir, { recursive: true });
  });

  it("is empty before the first record", async () => {
    expect(await readAuditLog("/no/such/file")).toEqual([]);
  });
});
