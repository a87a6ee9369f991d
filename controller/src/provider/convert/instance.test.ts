import { type Absence, AbsenceBasis, NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  Instance,
  type InstanceResult as WireInstanceResult,
  InstanceState,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { describe, expect, test } from "vitest";
import { instanceAnswer, instanceFromProto } from "./instance.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: NOW_MS };
const context = { witness, requestId: "r-1", dataAgeMs: 4000 };
const asked = { name: "n1", createTime: new Date(NOW_MS - 60_000) };

const absent = (absence: Partial<Absence>): WireInstanceResult => ({
  outcome: {
    $case: "absent",
    value: { basis: AbsenceBasis.LOOKUP_MISS, observeTime: new Date(NOW_MS), stronglyConsistent: false, ...absence },
  },
  readTime: undefined,
});

const NO_BASIS = "the absence has no basis";
const NO_TIME = "the absence has no observe time";

describe("instanceAnswer()", () => {
  test.each([
    [AbsenceBasis.TERMINATED, "terminated"],
    [AbsenceBasis.LOOKUP_MISS, "lookupMiss"],
    [AbsenceBasis.COMPLETE_LIST_MISS, "completeListMiss"],
  ] as const)("believes a proven absence with basis %i", (basis, expected) => {
    const observeTime = new Date(NOW_MS - 1000);
    expect(instanceAnswer(absent({ basis, observeTime, stronglyConsistent: true }), asked, context)).toEqual({
      kind: "absent",
      basis: expected,
      observeTimeMs: NOW_MS - 1000,
      strong: true,
      witness,
    });
  });

  test.each([
    ["the basis is not said", { basis: AbsenceBasis.UNSPECIFIED }, NO_BASIS],
    ["the basis is newer than this program", { basis: AbsenceBasis.UNRECOGNIZED }, NO_BASIS],
    ["the time of reading is missing", { observeTime: undefined }, NO_TIME],
    ["the time of reading cannot be read", { observeTime: new Date(Number.NaN) }, NO_TIME],
    [
      "the cloud was read before the node was made",
      { observeTime: new Date(NOW_MS - 60_001) },
      "the cloud was read before the object was created",
    ],
  ])("takes an absence as unknown when %s", (_, broken, why) => {
    const answer = instanceAnswer(absent(broken), asked, context);
    const message = `acme: node n1: ${why}; report it to the provider's vendor`;
    expect(answer).toMatchObject({ kind: "unknown", error: { reason: "RESPONSE_INVALID", requestId: "r-1", message } });
  });

  test("believes an absence read at the moment the node was made", () => {
    expect(instanceAnswer(absent({ observeTime: asked.createTime }), asked, context).kind).toBe("absent");
  });

  test.each([
    ["its own read time", new Date(NOW_MS - 9000), 4000, NOW_MS - 9000],
    ["the answer's data age", undefined, 4000, NOW_MS - 4000],
    ["the time of the answer", undefined, undefined, NOW_MS],
  ])("dates an instance by %s", (_, readTime, dataAgeMs, expected) => {
    const value = Instance.fromPartial({ providerId: "acme://i-1", name: "n1" });
    const result: WireInstanceResult = { outcome: { $case: "instance", value }, readTime };
    expect(instanceAnswer(result, asked, { ...context, dataAgeMs })).toMatchObject({
      kind: "present",
      readTimeMs: expected,
      instance: { providerId: "acme://i-1" },
    });
  });

  test.each([
    ["nothing", undefined],
    ["an instance without provider ID", { $case: "instance", value: Instance.fromPartial({ name: "n1" }) }],
  ] as const)("takes %s as unknown", (_, outcome) => {
    expect(instanceAnswer({ outcome, readTime: undefined }, asked, context)).toMatchObject({
      kind: "unknown",
      error: { reason: "RESPONSE_INVALID", class: "OUTCOME_UNKNOWN" },
    });
  });

  test("passes on that the provider does not know, and its refusal", () => {
    const unknown = {
      code: 14,
      reason: "NOT_YET_CONSISTENT",
      domain: "",
      message: "too young",
      retryAfter: undefined,
      metadata: {},
      field: "",
    };
    expect(
      instanceAnswer({ outcome: { $case: "unknown", value: unknown }, readTime: undefined }, asked, context),
    ).toMatchObject({ kind: "unknown", error: { reason: "NOT_YET_CONSISTENT", class: "TRANSIENT" } });
    expect(
      instanceAnswer(
        { outcome: { $case: "notOwned", value: { message: "gce://" } }, readTime: undefined },
        asked,
        context,
      ),
    ).toEqual({ kind: "notOwned", message: "gce://" });
  });
});

describe("instanceFromProto()", () => {
  test("says undefined for what was not said and drops what cannot be used", () => {
    const wire = Instance.fromPartial({
      providerId: "acme://i-1",
      name: "n1",
      instanceType: "",
      zone: "a",
      addresses: [
        { type: NodeAddressType.INTERNAL_IP, address: "10.0.0.1" },
        { type: NodeAddressType.UNSPECIFIED, address: "10.0.0.2" },
        { type: NodeAddressType.INTERNAL_IP, address: "10.0.0.1" },
        { type: NodeAddressType.EXTERNAL_IP, address: "10.0.0.1" },
        { type: NodeAddressType.INTERNAL_IP, address: "fd00::1" },
      ],
      state: InstanceState.STOPPED,
      labels: { "acme.example.com/rack": "r1" },
    });
    expect(instanceFromProto(wire)).toEqual({
      providerId: "acme://i-1",
      name: "n1",
      instanceType: undefined,
      zone: "a",
      region: undefined,
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "ExternalIP", address: "10.0.0.1" },
        { type: "InternalIP", address: "fd00::1" },
      ],
      state: "stopped",
      stateReason: "",
      labels: { "acme.example.com/rack": "r1" },
      podCidrs: undefined,
      createTimeMs: undefined,
      revision: "",
      warnings: ["dropped address 10.0.0.2 of unknown type 0", "address 10.0.0.1 of type InternalIP is a duplicate"],
    });
  });

  test.each([
    [InstanceState.UNSPECIFIED, "unknown"],
    [InstanceState.UNRECOGNIZED, "unknown"],
    [InstanceState.PENDING, "pending"],
    [InstanceState.RUNNING, "running"],
    [InstanceState.STOPPING, "stopping"],
    [InstanceState.TERMINATING, "terminating"],
  ] as const)("reads state %i as %s", (state, expected) => {
    expect(instanceFromProto(Instance.fromPartial({ state })).state).toBe(expected);
  });

  test("distinguishes no ranges allocated yet from not reported", () => {
    expect(instanceFromProto(Instance.fromPartial({ podCidrs: { cidrs: [] } })).podCidrs).toEqual([]);
  });
});
