import { describe, expect, test } from "vitest";
import { PERSISTENT_VOLUMES } from "./persistent-volume-resource.ts";

const read = (spec: object) => PERSISTENT_VOLUMES.fromJson({ metadata: { name: "pv" }, spec }).spec;

describe("PERSISTENT_VOLUMES", () => {
  test.each([
    {
      spec: { csi: { driver: "d", volumeHandle: "h", fsType: "ext4" } },
      source: { kind: "csi", driver: "d", volumeHandle: "h" },
    },
    { spec: { awsElasticBlockStore: { volumeID: "aws://a/vol-1" } }, source: inTree("aws-ebs", "aws://a/vol-1") },
    { spec: { gcePersistentDisk: { pdName: "disk" } }, source: inTree("gce-pd", "disk") },
    { spec: { azureDisk: { diskName: "n", diskURI: "/u" } }, source: inTree("azure-disk", "/u") },
    { spec: { cinder: { volumeID: "c" } }, source: inTree("cinder", "c") },
    { spec: { vsphereVolume: { volumePath: "[d] p" } }, source: inTree("vsphere-volume", "[d] p") },
    { spec: { csi: {} }, source: { kind: "csi", driver: "", volumeHandle: "" } },
    { spec: { nfs: { server: "s", path: "/" } }, source: undefined },
    { spec: { csi: null, cinder: null }, source: undefined },
    { spec: {}, source: undefined },
  ])("reads the source of $spec", ({ spec, source }) => {
    expect(read(spec).source).toEqual(source);
  });

  test.each([
    { nodeAffinity: undefined, wanted: undefined },
    { nodeAffinity: null, wanted: undefined },
    { nodeAffinity: {}, wanted: { terms: [] } },
    {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
            { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
            { matchExpressions: [{ key: "c", operator: "Exists" }] },
          ],
        },
      },
      wanted: {
        terms: [
          { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
          { matchExpressions: [] },
          { matchExpressions: [{ key: "c", operator: "Exists", values: [] }] },
        ],
      },
    },
  ])("reads the affinity $nodeAffinity", ({ nodeAffinity, wanted }) => {
    expect(read({ nodeAffinity }).nodeAffinity).toEqual(wanted);
  });

  test.each([
    { spec: { csi: { driver: 1 } }, problem: "driver: want a text, got number" },
    { spec: { nodeAffinity: [] }, problem: "nodeAffinity: want an object, got an array" },
    {
      spec: { nodeAffinity: { required: { nodeSelectorTerms: {} } } },
      problem: "nodeSelectorTerms: want an array, got object",
    },
  ])("refuses $spec", ({ spec, problem }) => {
    expect(() => read(spec)).toThrow(expect.objectContaining({ code: "DECODE", message: problem }));
  });
});

function inTree(plugin: string, volumeId: string) {
  return { kind: "inTree", plugin: `kubernetes.io/${plugin}`, volumeId };
}
