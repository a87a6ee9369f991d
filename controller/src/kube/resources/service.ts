import {
  type LoadBalancerIngress as WireIngress,
  type Service as WireService,
  type ServicePort as WirePort,
  ServiceList as WireServiceList,
  Service as WireServiceMessage,
  type ServiceSpec as WireSpec,
} from "../../../gen/cloudwire/kube/v1/kube.ts";
import type {
  LoadBalancerIngress,
  Service,
  ServicePort,
  ServiceSpec,
  SessionAffinityConfig,
} from "../../api/service.ts";
import {
  booleanField,
  DecodeError,
  isRecord,
  type JsonRecord,
  numberField,
  optionalBoolean,
  optionalNumber,
  optionalString,
  recordField,
  recordsField,
  stringField,
  stringsField,
} from "../../util/json.ts";
import { type Resource, conditionFromJson, conditionFromWire, metaFromJson, metaFromWire } from "./codec.ts";

/** core/v1 services. */
export const SERVICES: Resource<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  fromJson,
  protobuf: {
    decode: (reader) => fromWire(WireServiceMessage.decode(reader)),
    decodeList: (reader) => {
      const { metadata, items } = WireServiceList.decode(reader);
      return {
        items: items.map(fromWire),
        resourceVersion: metadata?.resourceVersion ?? "",
        continue: metadata?.continue ?? "",
      };
    },
  },
};

function fromJson(object: JsonRecord): Service {
  const status = recordField(object, "status");
  return {
    metadata: metaFromJson(object),
    spec: specFromJson(recordField(object, "spec")),
    status: {
      loadBalancer: { ingress: recordsField(recordField(status, "loadBalancer"), "ingress", ingressFromJson) },
      conditions: recordsField(status, "conditions", conditionFromJson),
    },
  };
}

function specFromJson(spec: JsonRecord): ServiceSpec {
  return {
    type: stringField(spec, "type"),
    ports: recordsField(spec, "ports", portFromJson),
    clusterIP: stringField(spec, "clusterIP"),
    clusterIPs: stringsField(spec, "clusterIPs"),
    externalIPs: stringsField(spec, "externalIPs"),
    ipFamilies: stringsField(spec, "ipFamilies"),
    ipFamilyPolicy: optionalString(spec, "ipFamilyPolicy"),
    sessionAffinity: stringField(spec, "sessionAffinity"),
    sessionAffinityConfig: affinityFromJson(spec),
    loadBalancerIP: stringField(spec, "loadBalancerIP"),
    loadBalancerSourceRanges: stringsField(spec, "loadBalancerSourceRanges"),
    loadBalancerClass: optionalString(spec, "loadBalancerClass"),
    externalTrafficPolicy: stringField(spec, "externalTrafficPolicy"),
    internalTrafficPolicy: optionalString(spec, "internalTrafficPolicy"),
    trafficDistribution: optionalString(spec, "trafficDistribution"),
    healthCheckNodePort: numberField(spec, "healthCheckNodePort"),
    allocateLoadBalancerNodePorts: optionalBoolean(spec, "allocateLoadBalancerNodePorts"),
    publishNotReadyAddresses: booleanField(spec, "publishNotReadyAddresses"),
  };
}

function portFromJson(port: JsonRecord): ServicePort {
  return {
    name: stringField(port, "name"),
    protocol: stringField(port, "protocol"),
    appProtocol: optionalString(port, "appProtocol"),
    port: numberField(port, "port"),
    targetPort: intOrStringFromJson(port["targetPort"]),
    nodePort: numberField(port, "nodePort"),
  };
}

function intOrStringFromJson(value: unknown): number | string {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" || typeof value === "string") return value;
  throw new DecodeError(`targetPort: want a number or a name, got ${typeof value}`);
}

function affinityFromJson(spec: JsonRecord): SessionAffinityConfig | undefined {
  const config = spec["sessionAffinityConfig"];
  if (!isRecord(config)) return undefined;
  const clientIP = config["clientIP"];
  return { clientIP: isRecord(clientIP) ? { timeoutSeconds: optionalNumber(clientIP, "timeoutSeconds") } : undefined };
}

function ingressFromJson(ingress: JsonRecord): LoadBalancerIngress {
  return {
    ip: stringField(ingress, "ip"),
    hostname: stringField(ingress, "hostname"),
    ipMode: optionalString(ingress, "ipMode"),
    ports: recordsField(ingress, "ports", (port) => ({
      port: numberField(port, "port"),
      protocol: stringField(port, "protocol"),
      error: optionalString(port, "error"),
    })),
  };
}

function fromWire({ metadata, spec, status }: WireService): Service {
  return {
    metadata: metaFromWire(metadata),
    spec: spec === undefined ? specFromJson({}) : specFromWire(spec),
    status: {
      loadBalancer: { ingress: (status?.loadBalancer?.ingress ?? []).map(ingressFromWire) },
      conditions: (status?.conditions ?? []).map(conditionFromWire),
    },
  };
}

function specFromWire(spec: WireSpec): ServiceSpec {
  return {
    type: spec.type,
    ports: spec.ports.map(portFromWire),
    clusterIP: spec.clusterIP,
    clusterIPs: spec.clusterIPs,
    externalIPs: spec.externalIPs,
    ipFamilies: spec.ipFamilies,
    ipFamilyPolicy: spec.ipFamilyPolicy,
    sessionAffinity: spec.sessionAffinity,
    sessionAffinityConfig: affinityFromWire(spec.sessionAffinityConfig),
    loadBalancerIP: spec.loadBalancerIP,
    loadBalancerSourceRanges: spec.loadBalancerSourceRanges,
    loadBalancerClass: spec.loadBalancerClass,
    externalTrafficPolicy: spec.externalTrafficPolicy,
    internalTrafficPolicy: spec.internalTrafficPolicy,
    trafficDistribution: spec.trafficDistribution,
    healthCheckNodePort: spec.healthCheckNodePort,
    allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts,
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
  };
}

function affinityFromWire(config: WireSpec["sessionAffinityConfig"]): SessionAffinityConfig | undefined {
  if (config === undefined) return undefined;
  const { clientIP } = config;
  return { clientIP: clientIP === undefined ? undefined : { timeoutSeconds: clientIP.timeoutSeconds } };
}

function portFromWire({ name, protocol, appProtocol, port, targetPort, nodePort }: WirePort): ServicePort {
  // IntOrString.Type: 0 is Int, 1 is String. apimachinery/pkg/util/intstr/intstr.go v0.36.3.
  const target = targetPort === undefined ? 0 : targetPort.type === 1 ? targetPort.strVal : targetPort.intVal;
  return { name, protocol, appProtocol, port, targetPort: target, nodePort };
}

function ingressFromWire({ ip, hostname, ipMode, ports }: WireIngress): LoadBalancerIngress {
  return { ip, hostname, ipMode, ports: ports.map(({ port, protocol, error }) => ({ port, protocol, error })) };
}
