import { describe, expect, test } from "vitest";
import { idleProvider } from "../../../test/support/provider-builders.ts";
import { ABSENT, csi, DRIVER, PLUGIN, present, volumesInfo } from "../../../test/support/volume-builders.ts";
import type { VolumeSource } from "../../api/persistent-volume.ts";
import { contractError } from "../model/errors.ts";
import type { VolumeAnswer } from "../model/volume.ts";
import { claimantsOf, consensusOf } from "./volume-owner.ts";

const acme = idleProvider("acme", volumesInfo());
const twin = idleProvider("twin", volumesInfo());
const other = idleProvider("other", volumesInfo({ csiDrivers: ["csi.other.example.com"], inTreePlugins: [] }));
const silent = idleProvider("silent", undefined);
const inTree: VolumeSource = { kind: "inTree", plugin: PLUGIN, volumeId: "v" };
const driverAsPlugin: VolumeSource = { kind: "inTree", plugin: DRIVER, volumeId: "v" };

describe("claimantsOf()", () => {
  test.each([
    { sentence: "its driver", source: csi(), names: ["acme", "twin"] },
    { sentence: "its plugin", source: inTree, names: ["acme", "twin"] },
    { sentence: "another's driver", source: csi("v", "csi.other.example.com"), names: ["other"] },
    { sentence: "nobody's driver", source: csi("v", "csi.foreign.example.com"), names: [] },
    { sentence: "a plugin of a driver's name", source: driverAsPlugin, names: [] },
  ])("finds $names by $sentence", ({ source, names }) => {
    expect(claimantsOf(source, [silent, acme, other, twin]).map(({ name }) => name)).toEqual(names);
  });
});

describe("consensusOf()", () => {
  const unknown: VolumeAnswer = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "gone") };
  const notMine: VolumeAnswer = { kind: "notMine", message: "no" };

  test.each<{ sentence: string; answers: readonly VolumeAnswer[]; wanted: VolumeAnswer }>([
    { sentence: "who has it", answers: [unknown, ABSENT, present()], wanted: present() },
    { sentence: "nobody while one does not know", answers: [ABSENT, unknown, notMine], wanted: unknown },
    { sentence: "those that have it not", answers: [notMine, ABSENT], wanted: ABSENT },
  ])("believes $sentence", ({ answers, wanted }) => {
    expect(consensusOf(answers, [acme, twin])).toEqual(wanted);
  });

  test.each([{ answers: [] }, { answers: [notMine] }])(
    "calls a volume that nobody claims foreign: $answers",
    ({ answers }) => {
      expect(consensusOf(answers, [acme])).toEqual({ kind: "notMine", message: "no provider serves its driver" });
    },
  );

  test.each<{ answers: readonly VolumeAnswer[] }>([{ answers: [] }, { answers: [ABSENT] }])(
    "cannot say while a provider has never answered that might have it: $answers",
    ({ answers }) => {
      expect(consensusOf(answers, [acme, silent])).toEqual({
        kind: "undecided",
        error: expect.objectContaining({ message: "silent is not connected" }),
      });
    },
  );

  test("believes who has it though a provider has never answered", () => {
    expect(consensusOf([present()], [acme, silent])).toEqual(present());
  });

  test("cannot say before there is any provider", () => {
    expect(consensusOf([], [])).toEqual({
      kind: "undecided",
      error: expect.objectContaining({ message: "no provider has answered yet", reason: "PROVIDER_STARTING" }),
    });
  });
});
