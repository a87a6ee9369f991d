import * as Wire from "../../../gen/cloudwire/kube/v1/kube.ts";
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from "../../api/service.ts";
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
import {
  type Resource,
  conditionFromJson,
  conditionFromWire,
  metaFromJson,
  metaFromWire,
  protobufCodec,
} from "./codec.ts";

export const SERVICES: Resource<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  fromJson,
  protobuf: protobufCodec(Wire.Service, Wire.ServiceList, fromWire),
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

function affinityFromJson(spec: JsonRecord): ServiceSpec["sessionAffinityConfig"] {
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

function fromWire({ metadata, spec, status }: Wire.Service): Service {
  return {
    metadata: metaFromWire(metadata),
    spec: spec === undefined ? specFromJson({}) : specFromWire(spec),
    status: {
      loadBalancer: { ingress: (status?.loadBalancer?.ingress ?? []).map(ingressFromWire) },
      conditions: (status?.conditions ?? []).map(conditionFromWire),
    },
  };
}

function specFromWire(spec: Wire.ServiceSpec): ServiceSpec {
  const { sessionAffinityConfig: affinity, ports, ipFamilyPolicy, loadBalancerClass } = spec;
  const { internalTrafficPolicy, trafficDistribution, allocateLoadBalancerNodePorts } = spec;
  const clientIP = affinity?.clientIP && { timeoutSeconds: affinity.clientIP.timeoutSeconds };
  return {
    ...spec,
    ipFamilyPolicy,
    loadBalancerClass,
    internalTrafficPolicy,
    trafficDistribution,
    allocateLoadBalancerNodePorts,
    ports: ports.map(portFromWire),
    sessionAffinityConfig: affinity && { clientIP },
  };
}

function portFromWire({ appProtocol, targetPort, ...port }: Wire.ServicePort): ServicePort {
  // IntOrString.Type: 0 is Int, 1 is String. apimachinery/pkg/util/intstr/intstr.go v0.36.3.
  const target = targetPort === undefined ? 0 : targetPort.type === 1 ? targetPort.strVal : targetPort.intVal;
  return { ...port, appProtocol, targetPort: target };
}

function ingressFromWire({ ipMode, ports, ...ingress }: Wire.LoadBalancerIngress): LoadBalancerIngress {
  return { ...ingress, ipMode, ports: ports.map(({ error, ...port }) => ({ ...port, error })) };
}
