import { EnsureLoadBalancerRequest, EnsureLoadBalancerResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { audited } from "./audited.ts";
import { contractError } from "../model/errors.ts";
import { RPCS } from "../convert/methods.ts";
import type { RpcCaller } from "../connection/transport.ts";

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
    lose: (error: unknown) => {
      throw error;
    },
  };
  const caller = audited({ unary }, { provider: "acme", audit, clock: new FakeClock(), rules });
  for (const specFingerprint of secrets) {
    const request = EnsureLoadBalancerRequest.fromPartial({ specFingerprint });
    const options = { requestId: "call-1", traceparent: "", signal: new AbortController().signal };
    await caller.unary(RPCS.ensureLoadBalancer, request, options).catch(() => undefined);
  }
  return lines;
}

test("audited() writes no secret of a request or an answer, and digests none", async () => {
  const bytes = EnsureLoadBalancerResponse.encode(
    EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "swordfish" } }),
  ).finish();
  const lines = await linesOf(async (rpc) => rpc.response.decode(bytes), "hunter2", "letmein");
  expect(lines).toMatchObject([
    { specFingerprint: HIDDEN, loadBalancerId: HIDDEN },
    { specFingerprint: HIDDEN, loadBalancerId: HIDDEN },
  ]);
  expect(new Set(lines.map((line) => JSON.stringify(line))).size).toBe(1);
  expect(JSON.stringify(lines)).not.toMatch(/hunter2|letmein|swordfish/);
});

test("audited() writes no secret of a call that fails", async () => {
  const fail = () => Promise.reject(contractError("CLOUD_UNAVAILABLE", "down for hunter2"));
  const lines = await linesOf(fail, "hunter2");
  expect(lines).toMatchObject([{ specFingerprint: HIDDEN, code: "UNAVAILABLE", reason: "CLOUD_UNAVAILABLE" }]);
  expect(JSON.stringify(lines)).not.toContain("hunter2");
});
