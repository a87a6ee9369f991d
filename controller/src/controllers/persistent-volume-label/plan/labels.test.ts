import { describe, expect, test } from "vitest";
import { objectMeta } from "../../../../test/support/builders.ts";
import type { PersistentVolume } from "../../../api/persistent-volume.ts";
import type { Volume } from "../../../provider/model/volume.ts";
import { factsOf, provisionedFacts, zonesOfLabel } from "./labels.ts";

const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION = "failure-domain.beta.kubernetes.io/region";

const volume = (parts: Partial<Volume>): Volume => ({
  id: "vol-1",
  zones: [],
  region: undefined,
  labels: {},
  nodeAffinity: [],
  ...parts,
});

describe("factsOf()", () => {
  test.each<{ sentence: string; parts: Partial<Volume>; labels: object; topology: unknown[]; dropped?: string[] }>([
    { sentence: "nothing", parts: {}, labels: {}, topology: [] },
    {
      sentence: "zone and region",
      parts: { zones: ["a"], region: "r" },
      labels: { [ZONE]: "a", [REGION]: "r" },
      topology: [
        [
          { key: ZONE, values: ["a"] },
          { key: REGION, values: ["r"] },
        ],
      ],
    },
    {
      sentence: "a region without zone",
      parts: { region: "r" },
      labels: { [REGION]: "r" },
      topology: [[{ key: REGION, values: ["r"] }]],
    },
    {
      sentence: "an empty region as none",
      parts: { zones: ["a"], region: "" },
      labels: { [ZONE]: "a" },
      topology: [[{ key: ZONE, values: ["a"] }]],
    },
    {
      sentence: "several zones, sorted, joined in the label and apart in the affinity",
      parts: { zones: ["b", "a"] },
      labels: { [ZONE]: "a__b" },
      topology: [[{ key: ZONE, values: ["a", "b"] }]],
    },
    {
      sentence: "further labels without affinity",
      parts: { zones: ["a"], labels: { "acme.io/tier": "fast" } },
      labels: { [ZONE]: "a", "acme.io/tier": "fast" },
      topology: [[{ key: ZONE, values: ["a"] }]],
    },
    {
      sentence: "zone and region over further labels of the same names",
      parts: { zones: ["a"], labels: { [ZONE]: "b" } },
      labels: { [ZONE]: "a" },
      topology: [[{ key: ZONE, values: ["a"] }]],
    },
    {
      sentence: "further terms, each together with zone and region",
      parts: {
        zones: ["a"],
        nodeAffinity: [[{ key: "rack", values: ["2", "1"] }], [{ key: "row", values: ["x"] }]],
      },
      labels: { [ZONE]: "a" },
      topology: [
        [
          { key: ZONE, values: ["a"] },
          { key: "rack", values: ["2", "1"] },
        ],
        [
          { key: ZONE, values: ["a"] },
          { key: "row", values: ["x"] },
        ],
      ],
    },
    {
      sentence: "a further term that names a zone itself, once",
      parts: {
        zones: ["a", "b"],
        nodeAffinity: [
          [
            { key: ZONE, values: ["a"] },
            { key: "rack", values: ["1"] },
          ],
        ],
      },
      labels: { [ZONE]: "a__b" },
      topology: [
        [
          { key: ZONE, values: ["a"] },
          { key: "rack", values: ["1"] },
        ],
      ],
    },
    {
      sentence: "labels that Kubernetes takes, and the others in sentences",
      parts: { labels: { "a b": "x", ok: "y", tag: "no/slash" } },
      labels: { ok: "y" },
      topology: [],
      dropped: [
        "label a b=x of the cloud was dropped, because it is not valid in Kubernetes",
        "label tag=no/slash of the cloud was dropped, because it is not valid in Kubernetes",
      ],
    },
  ])("reads $sentence", ({ parts, labels, topology, dropped = [] }) => {
    expect(factsOf(volume(parts))).toEqual({ kind: "facts", facts: { labels, topology, dropped } });
  });

  test("leaves out a zone label that is too long for a label, and keeps the affinity", () => {
    const zones = Array.from({ length: 8 }, (_, index) => `north-zone-${index}`);
    const result = factsOf(volume({ zones }));
    expect(result).toEqual({
      kind: "facts",
      facts: {
        labels: {},
        topology: [[{ key: ZONE, values: zones }]],
        dropped: [`label ${ZONE}=${zones.join("__")} of the cloud was dropped, because it is not valid in Kubernetes`],
      },
    });
  });

  test.each<{ sentence: string; parts: Partial<Volume>; shown: string }>([
    { sentence: "a zone", parts: { zones: ["no/slash"] }, shown: `${ZONE} in (no/slash)` },
    { sentence: "an empty zone", parts: { zones: [""] }, shown: `${ZONE} in ()` },
    { sentence: "a region", parts: { region: "no slash" }, shown: `${REGION} in (no slash)` },
    { sentence: "one of two zones", parts: { zones: ["no/slash", "a"] }, shown: `${ZONE} in (a, no/slash)` },
    { sentence: "a key", parts: { nodeAffinity: [[{ key: "-", values: ["a"] }]] }, shown: "- in (a)" },
    { sentence: "a requirement", parts: { nodeAffinity: [[{ key: "rack", values: [] }]] }, shown: "rack in ()" },
  ])("refuses $sentence that no node affinity can have", ({ parts, shown }) => {
    expect(factsOf(volume(parts))).toEqual({
      kind: "invalid",
      message: `the cloud's node affinity "${shown}" is not valid in Kubernetes`,
    });
  });
});

const pv = (labels: Record<string, string>, annotations: Record<string, string>): PersistentVolume => ({
  metadata: objectMeta({ name: "pv", labels, annotations }),
  spec: { source: { kind: "csi", driver: "d", volumeHandle: "h" }, nodeAffinity: undefined },
});
const PROVISIONED = { "pv.kubernetes.io/provisioned-by": "someone" };

describe("provisionedFacts()", () => {
  test.each([
    { sentence: "who made it is not said", labels: { [ZONE]: "a", [REGION]: "r" }, annotations: {} },
    { sentence: "there is no label", labels: {}, annotations: PROVISIONED },
    { sentence: "the region is missing", labels: { [ZONE]: "a" }, annotations: PROVISIONED },
    { sentence: "the zone is missing", labels: { [REGION]: "r" }, annotations: PROVISIONED },
    { sentence: "names are mixed", labels: { [ZONE]: "a", [BETA_REGION]: "r" }, annotations: PROVISIONED },
  ])("knows nothing when $sentence", ({ labels, annotations }) => {
    expect(provisionedFacts(pv(labels, annotations))).toBeUndefined();
  });

  test.each([
    { sentence: "labels", labels: { [ZONE]: "b__a", [REGION]: "r" }, keys: [ZONE, REGION] },
    {
      sentence: "labels of the older names",
      labels: { [BETA_ZONE]: "b__a", [BETA_REGION]: "r" },
      keys: [BETA_ZONE, BETA_REGION],
    },
    {
      sentence: "the newer of both names",
      labels: { [ZONE]: "b__a", [REGION]: "r", [BETA_ZONE]: "x", [BETA_REGION]: "y" },
      keys: [ZONE, REGION],
    },
  ])("believes $sentence and splits zones", ({ labels, keys: [zone = "", region = ""] }) => {
    expect(provisionedFacts(pv(labels, PROVISIONED))).toEqual({
      kind: "facts",
      facts: {
        labels: { [zone]: "b__a", [region]: "r" },
        topology: [
          [
            { key: zone, values: ["a", "b"] },
            { key: region, values: ["r"] },
          ],
        ],
        dropped: [],
      },
    });
  });

  test.each(["", "a__", "a__ __b"])("refuses the zone label %j", (zone) => {
    expect(provisionedFacts(pv({ [ZONE]: zone, [REGION]: "r" }, PROVISIONED))).toEqual({
      kind: "invalid",
      message: `label ${ZONE}=${zone} names an empty zone`,
    });
  });
});

test.each([
  { value: "a", zones: ["a"] },
  { value: "b__a__b", zones: ["a", "b"] },
  { value: " a __b", zones: ["a", "b"] },
  { value: "a_b", zones: ["a_b"] },
])("zonesOfLabel() reads $value", ({ value, zones }) => {
  expect(zonesOfLabel(value)).toEqual(zones);
});
