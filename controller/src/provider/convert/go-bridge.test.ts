import { createFileRegistry, fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import { LoadBalancerSpec, TargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { readDescriptorSet } from "@cloudwire/proto/descriptor-set";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ALL_CAPABILITIES } from "../../../test/support/provider/provider-builders.ts";
import { JSON_TYPE, type Resource, decodeObject } from "../../kube/resources/codec.ts";
import { NODES } from "../../kube/resources/node.ts";
import { SERVICES } from "../../kube/resources/service.ts";
import { StringCache } from "../../util/string-cache.ts";
import { nodeRef, nodeRefToProto, targetNode, targetNodeToProto } from "./node.ts";
import { loadBalancerSpec, loadBalancerSpecToProto } from "./service.ts";

// The Go bridge makes Kubernetes objects of messages again; its golden_test.go compares them with the objects that these messages
// are made of here. `npx vitest run --project unit controller/src/provider/convert/go-bridge -u` rewrites the messages.

const file = (name: string): string =>
  fileURLToPath(new URL(`../../../../provider-sdk/go/bridge/testdata/fixtures/${name}`, import.meta.url));

const read = <T>(resource: Resource<T>, name: string): T =>
  decodeObject(resource, readFileSync(file(name)), JSON_TYPE, new StringCache());

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));

/** As Go's protojson reads it. */
function textOf(message: string, bytes: Uint8Array): string {
  const descriptor = registry.getMessage(`cloudprovider.v1.${message}`);
  if (descriptor === undefined) throw new Error(`the contract has no message ${message}`);
  const json: JsonValue = toJson(descriptor, fromBinary(descriptor, bytes), { registry });
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** What the bridge declares of itself by default. */
const BRIDGED = {
  annotationPrefixes: ["service.beta.kubernetes.io/", "service.kubernetes.io/"],
  nodeLabelKeys: ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"],
  nodeAnnotationKeys: [],
  loadBalancers: ALL_CAPABILITIES,
};

describe("the messages that the Go bridge is tested with", () => {
  test("are what loadBalancerSpec() makes of their Service", async () => {
    const spec = loadBalancerSpec(read(SERVICES, "service.json"), BRIDGED, { tags: {} });
    const text = textOf("LoadBalancerSpec", LoadBalancerSpec.encode(loadBalancerSpecToProto(spec)).finish());
    await expect(text).toMatchFileSnapshot(file("service.spec.json"));
  });

  test("are what nodeRef() makes of their Node", async () => {
    const text = textOf("NodeRef", NodeRef.encode(nodeRefToProto(nodeRef(read(NODES, "node.json"), BRIDGED))).finish());
    await expect(text).toMatchFileSnapshot(file("node.ref.json"));
  });

  test("are what targetNode() makes of their Node", async () => {
    const target = targetNode(read(NODES, "node.json"), BRIDGED);
    const wire = target === undefined ? TargetNode.create() : targetNodeToProto(target);
    await expect(textOf("TargetNode", TargetNode.encode(wire).finish())).toMatchFileSnapshot(file("node.target.json"));
  });
});
