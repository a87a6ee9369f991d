import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { BatchGetInstancesResponse, ListInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { GetLoadBalancerResponse, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { describe, expect, test } from "vitest";
import { StringCache } from "../../util/string-cache.ts";
import { RPCS } from "./methods.ts";
import { type Answer, CLOCK_TOLERANCE_MS, MAX_RESPONSE_BYTES, heldResponse } from "./response.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const strings = new StringCache();

function held<Response>(rpc: Answer<Response>, bytes: Uint8Array) {
  return heldResponse(rpc, bytes, { nowMs: NOW_MS, strings });
}

type PartialInstance = NonNullable<Parameters<typeof ListInstancesResponse.fromPartial>[0]["instances"]>[number];

function batch(...instances: readonly PartialInstance[]): Uint8Array {
  const results = instances.map((value) => ({
    outcome: { $case: "instance", value: { providerId: "acme://i-1", name: "n", ...value } } as const,
  }));
  return BatchGetInstancesResponse.encode(
    BatchGetInstancesResponse.fromPartial({ scopeId: "project-1", results }),
  ).finish();
}

describe("heldResponse() of a whole response", () => {
  test("rejects more than 1 MiB before decoding (case A-2)", () => {
    const answer = held(RPCS.listInstances, new Uint8Array(MAX_RESPONSE_BYTES + 1));
    expect(answer).toMatchObject({ kind: "broken", breach: { rule: "size", method: "ListInstances" } });
  });

  test("rejects half a million empty items of two bytes before decoding (case A-2)", () => {
    const bytes = Buffer.alloc(MAX_RESPONSE_BYTES, Uint8Array.of(0x0a, 0));
    expect(held(RPCS.listInstances, bytes)).toMatchObject({ kind: "broken", breach: { rule: "items" } });
  });

  test("rejects more items than a page may have (case A-2)", () => {
    const bytes = Buffer.alloc(2 * 1001, Uint8Array.of(0x0a, 0));
    const breach = { rule: "items", field: "instances" };
    expect(held(RPCS.listInstances, bytes)).toMatchObject({ kind: "broken", breach });
  });

  test.each([
    ["a cut message", Uint8Array.of(0x0a, 0x7f, 0x01)],
    ["a group", Uint8Array.of(0x0b, 0x0c)],
    ["a tag that does not end", new Uint8Array(20).fill(0xff)],
    ["an unknown wire type", Uint8Array.of(0x0f)],
  ])("rejects %s (case A-5)", (_, bytes) => {
    expect(held(RPCS.listInstances, bytes)).toMatchObject({ kind: "broken", breach: { rule: "encoding" } });
  });

  test("rejects a load balancer with more ingress points than allowed, with the path (case A-5)", () => {
    const items = Array.from({ length: 65 }, (_, index) => ({ ip: `192.0.2.${index}` }));
    const value = {
      id: "lb-1",
      service: { namespace: "d", name: "n", uid: "u" },
      phase: LoadBalancerPhase.ACTIVE,
      ingress: { items },
    };
    const response = GetLoadBalancerResponse.fromPartial({ outcome: { $case: "loadBalancer", value } });
    expect(held(RPCS.getLoadBalancer, GetLoadBalancerResponse.encode(response).finish())).toEqual({
      kind: "broken",
      breach: {
        method: "GetLoadBalancer",
        rule: "field",
        field: "load_balancer.ingress.items",
        description: "has 65 items; at most 64 are allowed",
      },
    });
  });
});

describe("heldResponse() of items", () => {
  test.each<[string, PartialInstance, string]>([
    ["a text as IP", { addresses: [{ type: 1, address: "not an ip" }] }, "addresses[0].address"],
    ["numbers that are no IP", { addresses: [{ type: 2, address: "999.1.1.1" }] }, "addresses[0].address"],
    ["a host name with a space", { addresses: [{ type: 3, address: "a b" }] }, "addresses[0].address"],
    ["control characters", { zone: "z\u001B[2J" }, "zone"],
    ["control characters in a label", { labels: { a: "\u0000" } }, "labels"],
    ["5,000 bytes", { name: "x".repeat(5000) }, "name"],
    ["no provider ID", { providerId: "" }, "provider_id"],
    ["9 KiB of labels", { labels: { a: "x".repeat(9000) } }, "labels"],
    ["a range that is none", { podCidrs: { cidrs: ["10.0.0.0/33"] } }, "pod_cidrs.cidrs[0]"],
    ["a time in the future", { createTime: new Date(NOW_MS + CLOCK_TOLERANCE_MS + 1) }, "create_time"],
  ])("fails only the item with %s (case A-5)", (_, broken, path) => {
    const answer = held(RPCS.batchGetInstances, batch({}, broken, {}));
    const field = `results[1].instance.${path}`;
    expect(answer).toMatchObject({
      kind: "accepted",
      breaches: [{ method: "BatchGetInstances", field }],
      response: {
        results: [
          { outcome: { $case: "instance" } },
          { outcome: { $case: "unknown", value: { reason: "RESPONSE_INVALID", field } } },
          { outcome: { $case: "instance" } },
        ],
      },
    });
  });

  test("fails each of 200 broken items, but reports a few (case A-5)", () => {
    const answer = held(RPCS.batchGetInstances, batch(...Array.from({ length: 200 }, () => ({ zone: "\u0007" }))));
    const failed = { outcome: { $case: "unknown" } };
    const breaches = Array.from({ length: 8 }, () => ({ rule: "field" }));
    expect(answer).toMatchObject({ breaches, response: { results: Array.from({ length: 200 }, () => failed) } });
  });

  test("accepts times within the tolerance, and enum numbers of newer contracts", () => {
    const createTime = new Date(NOW_MS + CLOCK_TOLERANCE_MS);
    const answer = held(
      RPCS.batchGetInstances,
      batch({ createTime, addresses: [{ type: NodeAddressType.UNRECOGNIZED, address: "x" }] }),
    );
    expect(answer).toMatchObject({ kind: "accepted", breaches: [] });
  });

  test("leaves a broken item out of a list (case A-5)", () => {
    const instances = [
      { providerId: "acme://i-1", name: "a" },
      { providerId: "", name: "b" },
    ];
    const response = ListInstancesResponse.fromPartial({ instances, scopeId: "project-1", complete: true });
    const answer = held(RPCS.listInstances, ListInstancesResponse.encode(response).finish());
    expect(answer).toMatchObject({ kind: "accepted", breaches: [{ field: "instances[1].provider_id" }] });
    expect(answer.kind === "accepted" && answer.response.instances).toHaveLength(1);
  });
});
