import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { JSON_TYPE, PROTOBUF_TYPE, decodeList, decodeObject } from "./codec.ts";
import { PERSISTENT_VOLUMES } from "./persistent-volume.ts";
import { StringCache } from "../../util/string-cache.ts";

// Written by Kubernetes' own encoder: scripts/fixtures/main.go.
const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../test/fixtures/kube/persistentvolume-${name}`, import.meta.url));
const object = (name: string, type: string) => decodeObject(PERSISTENT_VOLUMES, fixture(name), type, new StringCache());
const list = (name: string, type: string) => decodeList(PERSISTENT_VOLUMES, fixture(name), type, new StringCache());

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

describe("PERSISTENT_VOLUMES in protobuf", () => {
  const sources = {
    csi: { kind: "csi", driver: "csi.example.com", volumeHandle: "vol-1" },
    aws: inTree("aws-ebs", "aws://eu-1a/vol-1"),
    gce: inTree("gce-pd", "disk"),
    azure: inTree("azure-disk", "/subscriptions/1/disk"),
    cinder: inTree("cinder", "c-1"),
    vsphere: inTree("vsphere-volume", "[d] v.vmdk"),
    nfs: undefined,
  };

  test.each(Object.entries(sources))("reads a volume of %s as in JSON", (name, source) => {
    const pv = object(`${name}.pb`, PROTOBUF_TYPE);
    expect(pv).toStrictEqual(object(`${name}.json`, JSON_TYPE));
    expect(pv).toMatchObject({
      metadata: { name: "pv", labels: { "topology.kubernetes.io/zone": "eu-1a" } },
      spec: {
        source,
        nodeAffinity: {
          terms: [
            {
              matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["eu-1a", "eu-1b"] }],
            },
            { matchExpressions: [] },
          ],
        },
      },
    });
  });

  test("reads a list as in JSON, one without source and affinity among them", () => {
    const page = list("list.pb", PROTOBUF_TYPE);
    expect(page).toStrictEqual(list("list.json", JSON_TYPE));
    expect([page.resourceVersion, page.continue, page.items[1]?.spec]).toStrictEqual([
      "902",
      "next-page",
      { source: undefined, nodeAffinity: undefined },
    ]);
  });
});
