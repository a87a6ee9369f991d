import * as Wire from "../../../gen/cloudwire/kube/v1/kube.ts";
import { isConditionRead, type Node, type NodeCondition, type Taint } from "../../api/node.ts";
import { canonicalCidr } from "../../util/cidr.ts";
import {
  booleanField,
  type JsonRecord,
  recordField,
  recordsField,
  stringField,
  stringsField,
} from "../../util/json.ts";
import {
  type Resource,
  compact,
  metaFromJson,
  metaFromWire,
  protobufCodec,
  timeFromJson,
  timeFromWire,
} from "./codec.ts";

export const NODES: Resource<Node> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  fromJson,
  protobuf: protobufCodec(Wire.Node, Wire.NodeList, fromWire),
};

function fromJson(object: JsonRecord): Node {
  const spec = recordField(object, "spec");
  const status = recordField(object, "status");
  return {
    metadata: metaFromJson(object),
    spec: {
      podCIDR: stringField(spec, "podCIDR"),
      podCIDRs: stringsField(spec, "podCIDRs").map(canonicalCidr),
      providerID: stringField(spec, "providerID"),
      unschedulable: booleanField(spec, "unschedulable"),
      taints: recordsField(spec, "taints", taintFromJson),
    },
    status: {
      conditions: recordsField(status, "conditions", conditionFromJson).flatMap((condition) => condition ?? []),
      addresses: recordsField(status, "addresses", (address) => ({
        type: stringField(address, "type"),
        address: stringField(address, "address"),
      })),
      nodeInfo: { systemUUID: stringField(recordField(status, "nodeInfo"), "systemUUID") },
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

function conditionFromJson(condition: JsonRecord): NodeCondition | undefined {
  const type = stringField(condition, "type");
  if (!isConditionRead(type)) return undefined;
  return {
    type,
    status: stringField(condition, "status"),
    lastTransitionTimeMs: timeFromJson(condition, "lastTransitionTime") ?? 0,
    reason: stringField(condition, "reason"),
  };
}

const EMPTY: Node = fromJson({});

function fromWire({ metadata, spec, status }: Wire.Node): Node {
  return {
    metadata: metaFromWire(metadata),
    spec: spec === undefined ? EMPTY.spec : specFromWire(spec),
    status: status === undefined ? EMPTY.status : statusFromWire(status),
  };
}

function specFromWire({ podCIDR, podCIDRs, providerID, unschedulable, taints }: Wire.NodeSpec): Node["spec"] {
  const converted = taints.map(({ timeAdded, ...taint }) => ({ ...taint, timeAddedMs: timeFromWire(timeAdded) }));
  return {
    podCIDR,
    podCIDRs: compact(podCIDRs.map(canonicalCidr)),
    providerID,
    unschedulable,
    taints: compact(converted),
  };
}

function statusFromWire({ conditions, addresses, nodeInfo }: Wire.NodeStatus): Node["status"] {
  return {
    conditions: compact(conditions.flatMap(conditionFromWire)),
    addresses: compact(addresses),
    nodeInfo: nodeInfo === undefined ? EMPTY.status.nodeInfo : { systemUUID: nodeInfo.systemUUID },
  };
}

function conditionFromWire({ type, status, lastTransitionTime, reason }: Wire.NodeCondition): readonly NodeCondition[] {
  if (!isConditionRead(type)) return [];
  return [{ type, status, lastTransitionTimeMs: timeFromWire(lastTransitionTime) ?? 0, reason }];
}
