import {
  type Node as WireNode,
  NodeList as WireNodeList,
  Node as WireNodeMessage,
  type NodeSpec as WireSpec,
  type NodeStatus as WireStatus,
  type Taint as WireTaint,
} from "../../gen/cloudwire/kube/v1/kube.ts";
import type { Node, NodeCondition, NodeSpec, NodeStatus, NodeSystemInfo, Taint } from "../api/node.ts";
import { booleanField, type JsonRecord, recordField, recordsField, stringField, stringsField } from "../util/json.ts";
import { metaFromJson, metaFromWire, timeFromJson, timeFromWire } from "./meta-codec.ts";
import type { Resource } from "./resource.ts";

/** core/v1 nodes. */
export const NODES: Resource<Node> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  fromJson,
  protobuf: {
    decode: (reader) => fromWire(WireNodeMessage.decode(reader)),
    decodeList: (reader) => {
      const { metadata, items } = WireNodeList.decode(reader);
      return {
        items: items.map(fromWire),
        resourceVersion: metadata?.resourceVersion ?? "",
        continue: metadata?.continue ?? "",
      };
    },
  },
};

function fromJson(object: JsonRecord): Node {
  const spec = recordField(object, "spec");
  const status = recordField(object, "status");
  return {
    metadata: metaFromJson(object),
    spec: {
      podCIDR: stringField(spec, "podCIDR"),
      podCIDRs: stringsField(spec, "podCIDRs"),
      providerID: stringField(spec, "providerID"),
      unschedulable: booleanField(spec, "unschedulable"),
      taints: recordsField(spec, "taints", taintFromJson),
    },
    status: {
      conditions: recordsField(status, "conditions", conditionFromJson),
      addresses: recordsField(status, "addresses", (address) => ({
        type: stringField(address, "type"),
        address: stringField(address, "address"),
      })),
      nodeInfo: nodeInfoFromJson(recordField(status, "nodeInfo")),
    },
  };
}

function taintFromJson(taint: JsonRecord): Taint {
  return {
    key: stringField(taint, "key"),
    value: stringField(taint, "value"),
    effect: stringField(taint, "effect"),
    timeAddedMs: timeFromJson(taint, "timeAdded"),
  };
}

function conditionFromJson(condition: JsonRecord): NodeCondition {
  return {
    type: stringField(condition, "type"),
    status: stringField(condition, "status"),
    lastTransitionTimeMs: timeFromJson(condition, "lastTransitionTime") ?? 0,
    reason: stringField(condition, "reason"),
  };
}

function nodeInfoFromJson(info: JsonRecord): NodeSystemInfo {
  return {
    machineID: stringField(info, "machineID"),
    systemUUID: stringField(info, "systemUUID"),
    bootID: stringField(info, "bootID"),
    kubeletVersion: stringField(info, "kubeletVersion"),
    operatingSystem: stringField(info, "operatingSystem"),
    architecture: stringField(info, "architecture"),
  };
}

const EMPTY: Node = fromJson({});

function fromWire({ metadata, spec, status }: WireNode): Node {
  return {
    metadata: metaFromWire(metadata),
    spec: spec === undefined ? EMPTY.spec : specFromWire(spec),
    status: status === undefined ? EMPTY.status : statusFromWire(status),
  };
}

function specFromWire({ podCIDR, podCIDRs, providerID, unschedulable, taints }: WireSpec): NodeSpec {
  return { podCIDR, podCIDRs, providerID, unschedulable, taints: taints.map(taintFromWire) };
}

function taintFromWire({ key, value, effect, timeAdded }: WireTaint): Taint {
  return { key, value, effect, timeAddedMs: timeFromWire(timeAdded) };
}

function statusFromWire({ conditions, addresses, nodeInfo }: WireStatus): NodeStatus {
  return {
    conditions: conditions.map(({ type, status, lastTransitionTime, reason }) => {
      return { type, status, lastTransitionTimeMs: timeFromWire(lastTransitionTime) ?? 0, reason };
    }),
    addresses,
    nodeInfo: nodeInfo ?? EMPTY.status.nodeInfo,
  };
}
