import { expect, test } from "vitest";
import { volumeIdOf } from "./volumes.ts";

const uuid = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";

test.each([
  [{ kind: "csi", driver: "cinder.csi.openstack.org", volumeHandle: uuid } as const, uuid],
  [{ kind: "inTree", plugin: "kubernetes.io/cinder", volumeId: uuid.toUpperCase() } as const, uuid],
])("volumeIdOf() reads %j", (source, expected) => {
  expect(volumeIdOf({ source })).toBe(expected);
});

test("volumeIdOf() refuses what is no id of Cinder", () => {
  const source = { kind: "csi", driver: "cinder.csi.openstack.org", volumeHandle: "vol-1" } as const;
  expect(() => volumeIdOf({ source })).toThrow("volume handle vol-1 is not a Cinder volume ID (UUID)");
});
