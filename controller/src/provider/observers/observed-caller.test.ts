import { BatchGetInstancesRequest, BatchGetInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { EnsureLoadBalancerRequest, EnsureLoadBalancerResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { CallJournal } from "../../explain/history/call-journal.ts";
import { RPCS, type RpcCaller } from "../convert/methods.ts";
import { contractError } from "../model/errors.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import { auditedCalls } from "./audit.ts";
import { type CallSink, observed } from "./observed-caller.ts";

const request = BatchGetInstancesRequest.fromPartial({ nodes: [{ name: "w1" }, { name: "w2" }] });

function watched(unary: RpcCaller["unary"], provider: string, sink: CallSink): RpcCaller {
  const address = "unix:///acme.sock";
  return observed(
    { caller: { unary } },
    { provider, address, tracing: NO_TRACING, clock: new FakeClock(), sinks: [sink] },
  );
}

/** The journal after one look-up that is answered so. */
async function after(unary: RpcCaller["unary"], signal = new AbortController().signal): Promise<CallJournal> {
  const journal = new CallJournal();
  const caller = watched(unary, "east", journal);
  await caller
    .unary(RPCS.batchGetInstances, request, { requestId: "1", traceparent: "", signal })
    .catch(() => undefined);
  return journal;
}

test("CallJournal remembers an answer for each Node, with the cloud's own ids", async () => {
  const bytes = BatchGetInstancesResponse.encode(
    BatchGetInstancesResponse.fromPartial({
      stats: { cloudRequestIds: ["req-7"] },
      results: [
        { outcome: { $case: "absent", value: {} } },
        { outcome: { $case: "unknown", value: { code: 14, reason: "NOT_YET_CONSISTENT", message: "too new" } } },
      ],
    }),
  ).finish();
  const journal = await after(async (rpc) => rpc.response.decode(bytes));
  expect([journal.of("node", "w1", 10), journal.of("node", "w2", 10)]).toMatchObject([
    [{ method: "BatchGetInstances", provider: "east", code: "OK", cloudRequestIds: ["req-7"], objectCount: 2 }],
    [{ code: "UNAVAILABLE", reason: "NOT_YET_CONSISTENT", message: "too new", cloudRequestIds: ["req-7"] }],
  ]);
});

test("CallJournal remembers a failure", async () => {
  const error = contractError("RATE_LIMITED", "slow down", { cloudRequestIds: ["req-8"] });
  const journal = await after(() => Promise.reject(error));
  expect(journal.of("node", "w1", 10)).toMatchObject([
    { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", message: "slow down", cloudRequestIds: ["req-8"] },
  ]);
});

test("CallJournal keeps nothing of a call without waiting callers", async () => {
  const journal = await after(() => Promise.reject(contractError("CLOUD_TIMEOUT", "gone")), AbortSignal.abort());
  expect(journal.of("node", "w1", 10)).toEqual([]);
});

describe("auditedCalls()", () => {
  const HIDDEN = "***";
  /** As if the contract called them secrets. */
  const rules = {
    "cloudprovider.v1.EnsureLoadBalancerRequest": [
      { name: "spec_fingerprint", jsonName: "specFingerprint", kind: "scalar", sensitive: true },
    ],
    "cloudprovider.v1.EnsureLoadBalancerResponse": [
      { name: "load_balancer", jsonName: "loadBalancer", kind: "message", message: "cloudprovider.v1.LoadBalancer" },
    ],
    "cloudprovider.v1.LoadBalancer": [{ name: "id", jsonName: "id", kind: "scalar", sensitive: true }],
  } as const;

  /** Lines of calls with that secret, answered by `unary`. */
  async function linesOf(unary: RpcCaller["unary"], ...secrets: readonly string[]): Promise<readonly object[]> {
    const lines: object[] = [];
    const audit = {
      write: (line: object) => void lines.push(line),
      drop: (error: unknown) => {
        throw error;
      },
    };
    const caller = watched(unary, "acme", auditedCalls(audit, rules));
    for (const specFingerprint of secrets) {
      const request = EnsureLoadBalancerRequest.fromPartial({ specFingerprint });
      const options = { requestId: "call-1", traceparent: "", signal: new AbortController().signal };
      await caller.unary(RPCS.ensureLoadBalancer, request, options).catch(() => undefined);
    }
    return lines;
  }

  test("writes no secret of a request or an answer, and digests none", async () => {
    const bytes = EnsureLoadBalancerResponse.encode(
      EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "swordfish" } }),
    ).finish();
    const lines = await linesOf(async (rpc) => rpc.response.decode(bytes), "hunter2", "letmein");
    expect(lines).toMatchObject([
      { specFingerprint: HIDDEN, loadBalancerID: HIDDEN },
      { specFingerprint: HIDDEN, loadBalancerID: HIDDEN },
    ]);
    expect(new Set(lines.map((line) => JSON.stringify(line))).size).toBe(1);
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|letmein|swordfish/);
  });

  test("writes no secret of a call that fails", async () => {
    const fail = () => Promise.reject(contractError("CLOUD_UNAVAILABLE", "down for hunter2"));
    const lines = await linesOf(fail, "hunter2");
    expect(lines).toMatchObject([{ specFingerprint: HIDDEN, code: "UNAVAILABLE", reason: "CLOUD_UNAVAILABLE" }]);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });
});
