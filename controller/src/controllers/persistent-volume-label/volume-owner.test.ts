import { describe, expect, test } from "vitest";
import { idleProvider } from "../../../test/support/provider-builders.ts";
import { csi, DRIVER, PLUGIN, volumesInfo } from "../../../test/support/volume-builders.ts";
import type { VolumeSource } from "../../api/persistent-volume.ts";
import { ownerOfVolume } from "./volume-owner.ts";

const acme = idleProvider("acme", volumesInfo());
const other = idleProvider("other", volumesInfo({ csiDrivers: ["csi.other.example.com"], inTreePlugins: [] }));
const silent = idleProvider("silent", undefined);
const inTree: VolumeSource = { kind: "inTree", plugin: PLUGIN, volumeId: "v" };
const driverAsPlugin: VolumeSource = { kind: "inTree", plugin: DRIVER, volumeId: "v" };

describe("ownerOfVolume()", () => {
  test.each([
    { sentence: "driver", source: csi(), provider: acme },
    { sentence: "plugin", source: inTree, provider: acme },
    { sentence: "driver among several providers", source: csi("v", "csi.other.example.com"), provider: other },
  ])("finds the provider by $sentence", ({ source, provider }) => {
    expect(ownerOfVolume(source, [silent, acme, other])).toEqual({ kind: "owned", provider });
  });

  test.each([{ source: csi("v", "csi.foreign.example.com") }, { source: driverAsPlugin }])(
    "finds nobody for $source once all have answered",
    ({ source }) => {
      expect(ownerOfVolume(source, [acme, other])).toEqual({ kind: "unowned" });
    },
  );

  test("cannot say while a provider has never answered", () => {
    expect(ownerOfVolume(csi("v", "csi.foreign.example.com"), [acme, silent])).toEqual({
      kind: "undecided",
      error: expect.objectContaining({ message: "silent is not connected" }),
    });
  });

  test("cannot say before there is any provider", () => {
    expect(ownerOfVolume(csi(), [])).toEqual({
      kind: "undecided",
      error: expect.objectContaining({
        message: "provider of this cluster has not answered yet",
        reason: "PROVIDER_STARTING",
      }),
    });
  });
});
