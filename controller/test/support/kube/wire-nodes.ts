import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { NodeSpec, NodeStatus, ObjectMeta, Unknown, WatchEvent } from "../../../gen/cloudwire/kube/v1/kube.ts";

const MAGIC = Buffer.from("k8s\0", "latin1");
const TIME = { seconds: 1_795_000_000, nanos: 0 };

/** Wire type 2: length and bytes. */
const field = (number: number): number => number * 8 + 2;

/**
 * Node `index` as kube-apiserver sends it: about 6 KB, most of it what the controller has no use for (images, managed fields, the
 * kubelet's messages), which the decoder has to pass over.
 */
export function wireNode(index: number): Uint8Array {
  const name = `node-${index}.eu-1.compute.example.com`;
  const metadata = new BinaryWriter();
  ObjectMeta.encode(
    {
      name,
      namespace: "",
      uid: `7b0f2f5e-6c2f-4a8e-9f57-${String(index).padStart(12, "0")}`,
      resourceVersion: String(1_000_000 + index),
      generation: 0,
      creationTimestamp: TIME,
      deletionTimestamp: undefined,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
      },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
      finalizers: [],
    },
    metadata,
  );
  // managedFields (generated.proto of apimachinery v0.36.3).
  metadata.uint32(field(17)).bytes(filler(2000, index));
  const spec = NodeSpec.encode({
    podCIDR: "",
    podCIDRs: [],
    providerID: "",
    unschedulable: false,
    taints: [
      {
        key: "node.cloudprovider.kubernetes.io/uninitialized",
        value: "true",
        effect: "NoSchedule",
        timeAdded: undefined,
      },
    ],
  });
  return envelope("Node", (node) => {
    node.uint32(field(1)).bytes(metadata.finish());
    node.uint32(field(2)).bytes(spec.finish());
    node.uint32(field(3)).bytes(status(name));
  });
}

function status(name: string): Uint8Array {
  const writer = new BinaryWriter();
  NodeStatus.encode(
    {
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        lastTransitionTime: TIME,
        reason: `KubeletHasNo${type}`,
      })),
      addresses: [{ type: "Hostname", address: name }],
      nodeInfo: {
        machineID: name,
        systemUUID: name,
        bootID: name,
        kubeletVersion: "v1.36.0",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
    writer,
  );
  // images (generated.proto of core/v1, v0.36.3).
  for (let image = 0; image < 25; image++) writer.uint32(field(8)).bytes(filler(130, image));
  return writer.finish();
}

/** The frame of a protobuf watch that says that the Node has changed. */
export function wireNodeModified(node: Uint8Array): Uint8Array {
  const event = WatchEvent.encode({ type: "MODIFIED", object: { raw: node } }).finish();
  const frame = Buffer.alloc(4 + event.length);
  frame.writeUInt32BE(event.length);
  frame.set(event, 4);
  return frame;
}

function envelope(kind: string, write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  const typeMeta = { apiVersion: "v1", kind };
  const unknown = Unknown.encode({ typeMeta, raw: writer.finish(), contentEncoding: "", contentType: "" });
  return Buffer.concat([MAGIC, unknown.finish()]);
}

/** Bytes without meaning, the same each time. */
function filler(sizeBytes: number, seed: number): Uint8Array {
  return Buffer.alloc(sizeBytes, `image-${seed}`);
}
