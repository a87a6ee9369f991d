import { describe, expect, test } from "vitest";
import { csi, persistentVolume } from "../../../test/support/provider/volume-builders.ts";
import type { ObjectMeta } from "../../api/meta.ts";
import type { PersistentVolumeSpec } from "../../api/persistent-volume.ts";
import { changesLabeling } from "./plan.ts";

const pv = persistentVolume("pv");
const withMeta = (metadata: Partial<ObjectMeta>) => ({ ...pv, metadata: { ...pv.metadata, ...metadata } });
const withSpec = (spec: Partial<PersistentVolumeSpec>) => ({ ...pv, spec: { ...pv.spec, ...spec } });

describe("changesLabeling()", () => {
  test.each([
    { sentence: "a label", changed: withMeta({ labels: { a: "b" } }) },
    { sentence: "who made it", changed: withMeta({ annotations: { "pv.kubernetes.io/provisioned-by": "x" } }) },
    { sentence: "another object of the name", changed: withMeta({ uid: "u-2" }) },
    { sentence: "the volume", changed: withSpec({ source: csi("vol-2") }) },
    { sentence: "the affinity", changed: withSpec({ nodeAffinity: { terms: [] } }) },
  ])("sees $sentence", ({ changed }) => {
    expect(changesLabeling(pv, changed)).toBe(true);
  });

  test.each([
    { sentence: "another version", changed: withMeta({ resourceVersion: "9" }) },
    { sentence: "another annotation", changed: withMeta({ annotations: { note: "x" } }) },
    { sentence: "a finalizer", changed: withMeta({ finalizers: ["x/y"] }) },
  ])("does not care about $sentence", ({ changed }) => {
    expect(changesLabeling(pv, changed)).toBe(false);
  });
});
