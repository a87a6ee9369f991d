import { describe, expect, test } from "vitest";
import { objectMeta } from "../../../test/support/builders.ts";
import type { ObjectMeta } from "../../api/meta.ts";
import type { NodeSelectorRequirement, PersistentVolume, VolumeSource } from "../../api/persistent-volume.ts";
import { planAdmission, planLabeling, lookupOf } from "./plan.ts";
import type { VolumeFacts } from "./plan/labels.ts";

const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION = "failure-domain.beta.kubernetes.io/region";
const CSI: VolumeSource = { kind: "csi", driver: "acme.csi", volumeHandle: "vol-1" };

interface Parts {
  readonly meta?: Partial<ObjectMeta>;
  readonly source?: VolumeSource | undefined;
  readonly terms?: readonly (readonly NodeSelectorRequirement[])[];
}

function pv({ meta = {}, terms, ...parts }: Parts = {}): PersistentVolume {
  return {
    metadata: objectMeta({ ...meta, name: "pv" }),
    spec: {
      source: "source" in parts ? parts.source : CSI,
      nodeAffinity:
        terms === undefined ? undefined : { terms: terms.map((matchExpressions) => ({ matchExpressions })) },
    },
  };
}

const inZone = (...values: string[]) => ({ key: ZONE, operator: "In", values });
const NORTH: VolumeFacts = {
  labels: { [ZONE]: "a", [REGION]: "r" },
  topology: [
    [
      { key: ZONE, values: ["a"] },
      { key: REGION, values: ["r"] },
    ],
  ],
  dropped: [],
};

describe("lookupOf()", () => {
  test.each<{ sentence: string; source: VolumeSource | undefined }>([
    { sentence: "a source that no cloud has", source: undefined },
    { sentence: "a CSI volume without handle", source: { kind: "csi", driver: "d", volumeHandle: "" } },
    { sentence: "a CSI volume without driver", source: { kind: "csi", driver: "", volumeHandle: "h" } },
    { sentence: "an in-tree volume without id", source: { kind: "inTree", plugin: "p", volumeId: "" } },
    {
      sentence: "an in-tree volume that is still to be made",
      source: { kind: "inTree", plugin: "p", volumeId: "placeholder-for-provisioning" },
    },
  ])("asks no one about $sentence", ({ source }) => {
    expect(lookupOf(pv({ source }))).toEqual({ kind: "none" });
  });

  test.each<{ source: VolumeSource }>([
    { source: CSI },
    { source: { kind: "inTree", plugin: "kubernetes.io/cinder", volumeId: "v" } },
    { source: { kind: "csi", driver: "d", volumeHandle: "placeholder-for-provisioning" } },
  ])("asks the cloud about $source", ({ source }) => {
    expect(lookupOf(pv({ source }))).toEqual({ kind: "query", source });
  });

  test("asks no one about what its provisioner has labeled", () => {
    const meta = {
      annotations: { "pv.kubernetes.io/provisioned-by": "x" },
      labels: { [ZONE]: "a", [REGION]: "r" },
    };
    expect(lookupOf(pv({ meta }))).toEqual({ kind: "provisioned", result: { kind: "facts", facts: NORTH } });
  });
});

describe("planAdmission()", () => {
  test("puts labels and affinity on what has neither", () => {
    expect(planAdmission(pv(), NORTH)).toEqual({ labels: NORTH.labels, topology: NORTH.topology, warnings: [] });
  });

  test("says nothing of labels that are right, and warns of those it replaces", () => {
    const meta = { labels: { [ZONE]: "a", [REGION]: "wrong" } };
    expect(planAdmission(pv({ meta }), NORTH)).toEqual({
      labels: { [REGION]: "r" },
      topology: NORTH.topology,
      warnings: [`label ${REGION}="wrong" was replaced with "r" from the cloud`],
    });
  });

  test("adds the topology to terms about other things", () => {
    const terms = [[{ key: "disk", operator: "In", values: ["ssd"] }], []];
    expect(planAdmission(pv({ terms }), NORTH)).toMatchObject({ topology: NORTH.topology, warnings: [] });
  });

  test("leaves the affinity alone when any term speaks of any of the keys", () => {
    const terms = [
      [{ key: "disk", operator: "In", values: ["ssd"] }],
      [{ key: REGION, operator: "Exists", values: [] }],
    ];
    expect(planAdmission(pv({ terms }), NORTH)).toEqual({ labels: NORTH.labels, topology: [], warnings: [] });
  });

  test("warns when the user's affinity allows no node that reaches the volume", () => {
    const { topology, warnings } = planAdmission(pv({ terms: [[inZone("b")]] }), NORTH);
    expect({ topology, warnings }).toEqual({
      topology: [],
      warnings: [`its node affinity allows no node that can reach the volume: ${ZONE} in (a) and ${REGION} in (r)`],
    });
  });

  test("hands on what the cloud said without success", () => {
    expect(planAdmission(pv(), { ...NORTH, dropped: ["x is left out"] }).warnings).toEqual(["x is left out"]);
  });

  test("changes nothing when nothing is known", () => {
    const plan = planAdmission(pv({ terms: [[inZone("b")]] }), { labels: {}, topology: [], dropped: [] });
    expect(plan).toEqual({ labels: {}, topology: [], warnings: [] });
  });
});

describe("planLabeling()", () => {
  test.each<{ sentence: string; parts: Parts; labels: object; topology: unknown }>([
    { sentence: "everything", parts: {}, labels: NORTH.labels, topology: NORTH.topology },
    {
      sentence: "the label that is missing",
      parts: { meta: { labels: { [ZONE]: "a" } } },
      labels: { [REGION]: "r" },
      topology: NORTH.topology,
    },
    {
      sentence: "labels alone, beside an affinity",
      parts: { terms: [[inZone("a")]] },
      labels: NORTH.labels,
      topology: [],
    },
    {
      sentence: "the affinity alone, beside labels",
      parts: { meta: { labels: { [ZONE]: "a", [REGION]: "r" } } },
      labels: {},
      topology: NORTH.topology,
    },
    {
      sentence: "the newer names beside the older ones",
      parts: { meta: { labels: { [BETA_ZONE]: "a", [BETA_REGION]: "r" } } },
      labels: NORTH.labels,
      topology: NORTH.topology,
    },
  ])("adds $sentence", ({ parts, labels, topology }) => {
    expect(planLabeling(pv(parts), NORTH)).toEqual({ kind: "label", labels, topology });
  });

  test("adds no further label over one that is there", () => {
    const meta = { labels: { ...NORTH.labels, tier: "mine" } };
    const facts = { ...NORTH, labels: { ...NORTH.labels, tier: "fast", extra: "yes" } };
    expect(planLabeling(pv({ meta, terms: [[inZone("a")]] }), facts)).toEqual({
      kind: "label",
      labels: { extra: "yes" },
      topology: [],
    });
  });

  test.each<{ sentence: string; parts: Parts; facts?: VolumeFacts }>([
    { sentence: "all is there", parts: { meta: { labels: NORTH.labels }, terms: [[inZone("a")]] } },
    {
      sentence: "zones are in another order",
      parts: { meta: { labels: { [ZONE]: "b__a" } }, terms: [[inZone("a")]] },
      facts: { labels: { [ZONE]: "a__b" }, topology: [[{ key: ZONE, values: ["a", "b"] }]], dropped: [] },
    },
    {
      sentence: "nothing is known",
      parts: { meta: { labels: { [ZONE]: "z" } } },
      facts: { labels: {}, topology: [], dropped: [] },
    },
  ])("does nothing when $sentence", ({ parts, facts = NORTH }) => {
    expect(planLabeling(pv(parts), facts)).toEqual({ kind: "none" });
  });

  const excluded = `its node affinity allows no node that can reach the volume: ${ZONE} in (a) and ${REGION} in (r)`;
  test.each<{ sentence: string; parts: Parts; message: string }>([
    {
      sentence: "the zone label",
      parts: { meta: { labels: { [ZONE]: "b" } } },
      message: `label ${ZONE} is "b", but "a" in the cloud`,
    },
    {
      sentence: "a label of an older name",
      parts: { meta: { labels: { [BETA_REGION]: "s" } } },
      message: `label ${BETA_REGION} is "s", but "r" in the cloud`,
    },
    {
      sentence: "two labels",
      parts: { meta: { labels: { [ZONE]: "b", [REGION]: "s" } } },
      message: `label ${ZONE} is "b", but "a" in the cloud; label ${REGION} is "s", but "r" in the cloud`,
    },
    { sentence: "the affinity", parts: { terms: [[inZone("b", "c")]] }, message: excluded },
    {
      sentence: "one of two requirements of a term",
      parts: { terms: [[inZone("a"), { key: REGION, operator: "In", values: ["s"] }]] },
      message: excluded,
    },
    {
      sentence: "every term of it",
      parts: { terms: [[inZone("b")], [{ ...inZone("a"), operator: "NotIn" }]] },
      message: excluded,
    },
    {
      sentence: "a term that wants no zone",
      parts: { terms: [[{ ...inZone(), operator: "DoesNotExist" }]] },
      message: excluded,
    },
  ])("changes nothing when $sentence says otherwise than the cloud", ({ parts, message }) => {
    expect(planLabeling(pv(parts), NORTH)).toEqual({ kind: "mismatch", message });
  });

  const TWO: VolumeFacts = {
    labels: {},
    topology: [
      [{ key: ZONE, values: ["a", "b"] }],
      [
        { key: "rack", values: ["1"] },
        { key: ZONE, values: ["c"] },
      ],
    ],
    dropped: [],
  };
  test.each<{ sentence: string; term: NodeSelectorRequirement; plan: object }>([
    { sentence: "allows one of several places", term: inZone("c"), plan: { kind: "none" } },
    {
      sentence: "excludes one zone of two",
      term: { ...inZone("a", "c"), operator: "NotIn" },
      plan: { kind: "none" },
    },
    {
      sentence: "excludes all of them",
      term: { ...inZone("a", "b", "c"), operator: "NotIn" },
      plan: {
        kind: "mismatch",
        message: `its node affinity allows no node that can reach the volume: ${ZONE} in (a, b) or rack in (1) and ${ZONE} in (c)`,
      },
    },
  ])("evaluates an affinity that $sentence by each place", ({ term, plan }) => {
    expect(planLabeling(pv({ terms: [[term]] }), TWO)).toEqual(plan);
  });

  test.each<{ sentence: string; term: readonly NodeSelectorRequirement[] }>([
    { sentence: "names one of the zones", term: [inZone("x", "a")] },
    { sentence: "excludes others", term: [{ ...inZone("b"), operator: "NotIn" }] },
    { sentence: "wants any zone", term: [{ ...inZone(), operator: "Exists" }] },
    { sentence: "is about something else", term: [{ key: "disk", operator: "In", values: ["ssd"] }] },
  ])("finds no fault with an affinity that $sentence", ({ term }) => {
    expect(planLabeling(pv({ meta: { labels: NORTH.labels }, terms: [[inZone("b")], term] }), NORTH)).toEqual({
      kind: "none",
    });
  });
});
