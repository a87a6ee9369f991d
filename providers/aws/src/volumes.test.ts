import type { VolumeSource } from "@cloudwire/provider-sdk";
import { expect, test } from "vitest";
import { volumeIdOf } from "./volumes.ts";

const csi = (volumeHandle: string): VolumeSource => ({ kind: "csi", driver: "ebs.csi.aws.com", volumeHandle });
const inTree = (volumeId: string): VolumeSource => ({ kind: "inTree", plugin: "kubernetes.io/aws-ebs", volumeId });

test.each([
  [csi("vol-0123456789abcdef0"), "vol-0123456789abcdef0"],
  [inTree("vol-01234567"), "vol-01234567"],
  [inTree("aws://us-east-1a/vol-0123456789abcdef0"), "vol-0123456789abcdef0"],
])("volumeIdOf() %j is %s", (source, expected) => {
  expect(volumeIdOf({ source })).toBe(expected);
});

test.each([csi("aws://us-east-1a/vol-01234567"), csi("i-01234567"), inTree("")])(
  "volumeIdOf() %j is none",
  (source) => {
    expect(volumeIdOf({ source })).toMatchObject({ reason: "FIELD_INVALID" });
  },
);
