import { AbsenceBasis } from "@cloudwire/proto/cloudprovider/v1/common";
import { Volume, type VolumeResult as WireVolumeResult } from "@cloudwire/proto/cloudprovider/v1/volume";
import { describe, expect, test } from "vitest";
import { volumeAnswer, volumeRefToProto } from "./volume.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: NOW_MS };
const context = { witness, requestId: "r-1", dataAgeMs: undefined };

const answer = (outcome: WireVolumeResult["outcome"], readTime?: Date, dataAgeMs?: number) =>
  volumeAnswer({ outcome, readTime }, "acme: volume v-1", { ...context, dataAgeMs });

describe("volumeAnswer()", () => {
  test.each([
    ["with a region", "eu-1", "eu-1"],
    ["without one", "", undefined],
  ])("reads a volume %s", (_, region, expected) => {
    const requirements = [{ key: "rack", values: ["r1"] }];
    const wire = { id: "v-1", zones: ["a", "b"], region, labels: { tier: "ssd" }, nodeAffinity: [{ requirements }] };
    expect(answer({ $case: "volume", value: Volume.fromPartial(wire) }, new Date(NOW_MS - 9000))).toEqual({
      kind: "present",
      volume: { ...wire, region: expected, nodeAffinity: [requirements] },
      readTimeMs: NOW_MS - 9000,
    });
  });

  test.each([
    ["the answer's data age", 4000, NOW_MS - 4000],
    ["the time of the answer", undefined, NOW_MS],
  ])("dates a volume without a time of its own by %s", (_, dataAgeMs, readTimeMs) => {
    const outcome = { $case: "volume", value: Volume.fromPartial({ id: "v-1" }) } as const;
    expect(answer(outcome, undefined, dataAgeMs)).toMatchObject({ readTimeMs });
  });

  test("believes a proven absence", () => {
    const value = { basis: AbsenceBasis.LOOKUP_MISS, observeTime: new Date(NOW_MS), stronglyConsistent: true };
    expect(answer({ $case: "absent", value })).toEqual({
      kind: "absent",
      basis: "lookupMiss",
      observeTimeMs: NOW_MS,
      strong: true,
      witness,
    });
  });

  test("leaves alone what is another's", () => {
    expect(answer({ $case: "notOwned", value: { message: "gce" } })).toEqual({ kind: "notOwned", message: "gce" });
  });

  test("keeps the error of what the provider could not find out", () => {
    const item = { code: 14, reason: "ZONE_UNREACHABLE", domain: "", message: "zone b", metadata: {}, field: "" };
    expect(answer({ $case: "unknown", value: { ...item, retryAfter: undefined } })).toMatchObject({
      kind: "unknown",
      error: { reason: "ZONE_UNREACHABLE", message: "acme: volume v-1: ZONE_UNREACHABLE: zone b", requestId: "r-1" },
    });
  });

  test.each([
    ["nothing at all", undefined, "the result has no outcome"],
    [
      "an absence that proves nothing",
      {
        $case: "absent",
        value: { basis: AbsenceBasis.UNSPECIFIED, observeTime: new Date(NOW_MS), stronglyConsistent: false },
      } as const,
      "the absence has no basis",
    ],
  ])("takes %s as unknown", (_, outcome, why) => {
    const message = `acme: volume v-1: ${why}; report it to the provider's vendor`;
    expect(answer(outcome)).toMatchObject({ kind: "unknown", error: { reason: "RESPONSE_INVALID", message } });
  });
});

test.each([
  {
    source: { kind: "csi", driver: "csi.acme.example.com", volumeHandle: "vol-a" },
    want: { $case: "csi", value: { driver: "csi.acme.example.com", volumeHandle: "vol-a" } },
  },
  {
    source: { kind: "inTree", plugin: "kubernetes.io/cinder", volumeId: "vol-c" },
    want: { $case: "inTree", value: { plugin: "kubernetes.io/cinder", volumeId: "vol-c" } },
  },
] as const)("volumeRefToProto() names a volume of kind $source.kind", ({ source, want }) => {
  expect(volumeRefToProto({ name: "a", uid: "uid-a", source })).toEqual({ name: "a", uid: "uid-a", source: want });
});
