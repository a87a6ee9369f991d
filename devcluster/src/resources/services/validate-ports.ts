import {
  type FieldError,
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../validation/field-error.ts";
import { validateText } from "../../validation/metadata.ts";
import { dnsLabel, portName, portNumber, qualifiedName } from "../../validation/names.ts";
import type { Service, ServicePort } from "./service.ts";

const protocols = ["SCTP", "TCP", "UDP"];

/** Errors of a service's ports: of each by itself, or of their node ports and doubles, which the real server reports later. */
export function validatePorts(service: Service, what: "form" | "duplicates"): readonly FieldError[] {
  const ports = service.spec.ports ?? [];
  if (what === "form") return ports.flatMap((port, index) => validatePort(port, index, ports));
  return [
    ...(service.spec.type === "ClusterIP" ? ports.flatMap(forbidNodePort) : []),
    ...ports.flatMap((port, index) => duplicateNodePort(port, index, ports)),
    ...ports.flatMap((port, index) => duplicatePort(port, index, ports)),
  ];
}

function validatePort(port: ServicePort, index: number, all: readonly ServicePort[]): readonly FieldError[] {
  const field = `spec.ports[${index}]`;
  const { protocol = "", appProtocol } = port;
  return [
    ...validateName(port, index, all),
    ...portNumber(port.port).map((complaint) => invalidValue(`${field}.port`, port.port, complaint)),
    ...(protocols.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, protocols)]),
    ...validateTarget(`${field}.targetPort`, port.targetPort),
    ...(appProtocol === undefined ? [] : validateText(`${field}.appProtocol`, appProtocol, qualifiedName)),
  ];
}

function validateName(port: ServicePort, index: number, all: readonly ServicePort[]): readonly FieldError[] {
  const field = `spec.ports[${index}].name`;
  const name = port.name ?? "";
  if (name === "") return all.length > 1 ? [required(field)] : [];
  const repeated = all.findIndex((other) => other.name === name) < index;
  return [...validateText(field, name, dnsLabel), ...(repeated ? [duplicate(field, name)] : [])];
}

function validateTarget(field: string, target: number | string): readonly FieldError[] {
  if (typeof target === "string") return validateText(field, target, portName);
  return portNumber(target).map((complaint) => invalidValue(field, target, complaint));
}

function forbidNodePort(port: ServicePort, index: number): readonly FieldError[] {
  if (port.nodePort === undefined) return [];
  return [forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")];
}

function duplicateNodePort(port: ServicePort, index: number, all: readonly ServicePort[]): readonly FieldError[] {
  if (port.nodePort === undefined) return [];
  const first = all.findIndex((other) => other.protocol === port.protocol && other.nodePort === port.nodePort);
  return first < index ? [duplicate(`spec.ports[${index}].nodePort`, port.nodePort)] : [];
}

function duplicatePort(port: ServicePort, index: number, all: readonly ServicePort[]): readonly FieldError[] {
  const first = all.findIndex((other) => other.protocol === port.protocol && other.port === port.port);
  if (first === index) return [];
  const { protocol = "" } = port;
  // The real server prints the key of its comparison in Go's names.
  const key = { Name: "", Protocol: protocol, AppProtocol: null, Port: port.port, TargetPort: 0, NodePort: 0 };
  return [duplicate(`spec.ports[${index}]`, key)];
}
