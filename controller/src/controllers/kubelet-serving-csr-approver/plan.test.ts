import { describe, expect, test } from "vitest";
import { CREATED_MS, instance, node } from "../../../test/support/builders.ts";
import { csr } from "../../../test/support/node/builders-csr.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { type Input, plan, type Target } from "./plan.ts";
import { type Claim, objection } from "./plan/claim.ts";

const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 0 };
const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
const PRESENT: InstanceResult = { kind: "present", instance: instance({ addresses }), readTimeMs: 0, witness };
const CLAIM: Claim = { kind: "claim", nodeName: "node-a", dnsNames: ["node-a"], ipAddresses: ["10.0.0.1"] };
const unknown = (retryAfterMs?: number): InstanceResult => {
  return { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "503", { retryAfterMs }) };
};

function input(parts: Partial<Input> = {}): Input {
  return { csr: csr(), claim: CLAIM, target: target(PRESENT), ...parts };
}

function target(answer: InstanceResult, untrustedReason?: string): Target {
  return {
    node: node("node-a"),
    cluster: { kind: "known", services: [], apiServers: [] },
    apiServerHost: "api.test",
    answer,
    untrustedReason,
  };
}

/** Seconds after the request was made. */
const after = (seconds: number): number => CREATED_MS + seconds * 1000;

describe("plan()", () => {
  test("approves a request that the cloud bears out, and says what it did", () => {
    expect(plan(input(), after(1))).toEqual({
      kind: "approve",
      csr: csr(),
      condition: {
        type: "Approved",
        status: "True",
        reason: "AutoApproved",
        message: "According to the cloud, acme://1 is node node-a and has: node-a, 10.0.0.1",
        lastUpdateTime: undefined,
        lastTransitionTime: undefined,
      },
    });
  });

  test("leaves a request that is out of order, whatever the cloud would say", () => {
    const claim = objection("weakKey", "RSA of 512 bits");
    const planned = { kind: "leave", csr: csr(), objection: claim };
    expect(plan(input({ claim, target: undefined }), after(1))).toEqual(planned);
    expect(plan(input({ claim }), after(1))).toEqual(planned);
  });

  test("waits for a Node", () => {
    expect(plan(input({ target: undefined }), after(1))).toEqual({
      kind: "wait",
      csr: csr(),
      nodeName: "node-a",
      node: undefined,
      objection: { kind: "objection", reason: "nodeNotFound", message: "Node node-a does not exist" },
      report: true,
      retryInMs: 2000,
    });
  });

  test("waits for a cloud that does not bear the request out, and says so", () => {
    const claim = { ...CLAIM, ipAddresses: ["10.0.0.2"] };
    expect(plan(input({ claim }), after(1))).toEqual({
      kind: "wait",
      csr: csr(),
      nodeName: "node-a",
      node: node("node-a"),
      objection: {
        kind: "objection",
        reason: "addressUnknown",
        message: `instance "acme://1" does not have "10.0.0.2", but "10.0.0.1"`,
      },
      report: true,
      retryInMs: 2000,
    });
  });

  test.each([
    { seconds: 10, report: false },
    { seconds: 11, report: true },
  ])("reports a provider that is away or not trusted after 10 s: $report after $seconds s", ({ seconds, report }) => {
    const away = input({ target: target(unknown()) });
    expect(plan(away, after(seconds))).toMatchObject({ objection: { reason: "instanceUnknown" }, report });
    const untrusted = input({ target: target(PRESENT, "its credentials have expired") });
    expect(plan(untrusted, after(seconds))).toMatchObject({ objection: { reason: "providerUntrusted" }, report });
  });

  test.each([
    { it: "is new", seconds: 0, retryInMs: 2000 },
    { it: "was made by a clock that is ahead", seconds: -60, retryInMs: 2000 },
    { it: "is 20 s old", seconds: 20, retryInMs: 5000 },
    { it: "is half an hour old", seconds: 1800, retryInMs: 60_000 },
  ])("looks again after $retryInMs ms at a request that $it", ({ seconds, retryInMs }) => {
    expect(plan(input({ target: target(unknown()) }), after(seconds))).toMatchObject({ retryInMs });
  });

  test("looks again no sooner than the provider requests", () => {
    expect(plan(input({ target: target(unknown(90_000)) }), after(0))).toMatchObject({ retryInMs: 90_000 });
    expect(plan(input({ target: target(unknown(90)) }), after(0))).toMatchObject({ retryInMs: 2000 });
  });
});
