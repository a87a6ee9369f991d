import { BatchGetInstancesRequest, BatchGetInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { CallJournal } from "../../explain/history/call-journal.ts";
import { contractError } from "../model/errors.ts";
import { journalled } from "./journalled.ts";
import { RPCS } from "../convert/methods.ts";
import type { RpcCaller } from "../connection/transport.ts";

const request = BatchGetInstancesRequest.fromPartial({ nodes: [{ name: "w1" }, { name: "w2" }] });

/** The journal after one look-up that is answered so. */
async function after(unary: RpcCaller["unary"], signal = new AbortController().signal): Promise<CallJournal> {
  const journal = new CallJournal();
  const caller = journalled({ unary }, { provider: "east", journal, clock: new FakeClock() });
  await caller
    .unary(RPCS.batchGetInstances, request, { requestId: "1", traceparent: "", signal })
    .catch(() => undefined);
  return journal;
}

test("journalled() remembers an answer for each Node, with the cloud's own ids", async () => {
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
    [{ rpc: "BatchGetInstances", provider: "east", code: "OK", cloudRequestIds: ["req-7"], objects: 2 }],
    [{ code: "UNAVAILABLE", reason: "NOT_YET_CONSISTENT", message: "too new", cloudRequestIds: ["req-7"] }],
  ]);
});

test("journalled() remembers a failure", async () => {
  const error = contractError("RATE_LIMITED", "slow down", { cloudRequestIds: ["req-8"] });
  const journal = await after(() => Promise.reject(error));
  expect(journal.of("node", "w1", 10)).toMatchObject([
    { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", message: "slow down", cloudRequestIds: ["req-8"] },
  ]);
});

test("journalled() remembers nothing of a call that nobody waits for any more", async () => {
  const journal = await after(() => Promise.reject(contractError("CLOUD_TIMEOUT", "gone")), AbortSignal.abort());
  expect(journal.of("node", "w1", 10)).toEqual([]);
});
