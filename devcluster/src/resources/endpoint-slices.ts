import { isIPv4, isIPv6 } from "node:net";
import { sameJson } from "../json.ts";
import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { isAddress } from "../validation/addresses.ts";
import {
  type FieldError,
  duplicate,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from "../validation/field-error.ts";
import { validateText } from "../validation/metadata.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Resource } from "./resource.ts";

type Port = Readonly<{
  name?: string | undefined;
  protocol?: string | undefined;
  port?: number | undefined;
  appProtocol?: string | undefined;
}>;
type Endpoint = Readonly<{
  addresses: readonly string[] | null;
  hostname?: string | undefined;
  nodeName?: string | undefined;
}>;

type EndpointSlice = KubeObject &
  Readonly<{
    addressType: string;
    endpoints: readonly Endpoint[] | null;
    ports: readonly Port[] | null;
  }>;

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];
/** Upstream pkg/apis/discovery/validation, v1.37. */
const maxEndpoints = 1000;
const maxAddresses = 100;
/** Elements that a table cell lists before it counts the rest. */
const shownElements = 3;

export const endpointSlices: Resource<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  name: "endpointslices",
  singular: "endpointslice",
  kind: "EndpointSlice",
  type: "discovery.v1.EndpointSlice",
  namespaced: true,
  nameRule: dnsSubdomain,
  strategy: {
    allowUnconditionalUpdate: true,
    applyDefaults,
    prepareForCreate: (slice) => withMetadata(slice, { generation: 1 }),
    prepareForUpdate: countGeneration,
    validate,
    validateUpdate: (slice, old) => [
      ...validate(slice),
      ...(slice.addressType === old.addressType ? [] : [invalidValue("addressType", null, "field is immutable")]),
    ],
  },
  subresources: [],
  columns: [nameColumn, { name: "AddressType" }, { name: "Ports" }, { name: "Endpoints" }, ageColumn],
  row: (slice, nowMs) => [
    nameOf(slice),
    slice.addressType,
    shorten((slice.ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? "*") : `${port}`))),
    shorten((slice.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    age(slice, nowMs),
  ],
  selectableFields: [],
};

function applyDefaults(slice: EndpointSlice): EndpointSlice {
  const ports = slice.ports?.map((port) => ({ ...port, name: port.name ?? "", protocol: port.protocol ?? "TCP" }));
  return { ...slice, ports: ports ?? slice.ports };
}

/** The generation counts changes of content and labels. */
function countGeneration(slice: EndpointSlice, old: EndpointSlice): EndpointSlice {
  const same =
    sameJson({ ...slice, metadata: {} }, { ...old, metadata: {} }) &&
    sameJson(slice.metadata.labels, old.metadata.labels);
  return same ? slice : withMetadata(slice, { generation: (old.metadata.generation ?? 0) + 1 });
}

function validate(slice: EndpointSlice): readonly FieldError[] {
  const type = slice.addressType;
  const typeErrors = addressTypes.includes(type) ? [] : [notSupported("addressType", type, addressTypes)];
  return [
    ...(type === "" ? [required("addressType")] : typeErrors),
    ...(slice.ports ?? []).flatMap(validatePort),
    ...validateEndpoints(slice),
  ];
}

function validatePort(port: Port, index: number, all: readonly Port[]): readonly FieldError[] {
  const field = `ports[${index}]`;
  const { name = "", protocol = "", appProtocol } = port;
  return [
    ...(name === "" ? [] : validateText(`${field}.name`, name, dnsLabel)),
    ...(all.findIndex((other) => (other.name ?? "") === name) < index ? [duplicate(`${field}.name`, name)] : []),
    ...(protocols.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, protocols)]),
    ...(appProtocol === undefined ? [] : validateText(`${field}.appProtocol`, appProtocol, qualifiedName)),
  ];
}

function validateEndpoints(slice: EndpointSlice): readonly FieldError[] {
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > maxEndpoints) return [tooMany("endpoints", endpoints.length, maxEndpoints)];
  return endpoints.flatMap((endpoint, index) => {
    const field = `endpoints[${index}]`;
    const addresses = endpoint.addresses ?? [];
    return [
      ...(addresses.length === 0 ? [required(`${field}.addresses`)] : []),
      ...(addresses.length > maxAddresses ? [tooMany(`${field}.addresses`, addresses.length, maxAddresses)] : []),
      ...addresses.flatMap((address, place) => validateAddress(slice, address, `${field}.addresses`, place)),
      ...(endpoint.nodeName === undefined ? [] : validateText(`${field}.nodeName`, endpoint.nodeName, dnsSubdomain)),
      ...(endpoint.hostname === undefined ? [] : validateText(`${field}.hostname`, endpoint.hostname, dnsLabel)),
    ];
  });
}

function validateAddress(slice: EndpointSlice, address: string, field: string, index: number): readonly FieldError[] {
  const type = slice.addressType;
  if (type !== "IPv4" && type !== "IPv6") return [];
  const errors = isAddress(`${field}[${index}]`, address);
  if (errors.length > 0) return errors;
  const fits = type === "IPv4" ? isIPv4(address) : isIPv6(address);
  return fits ? [] : [invalidValue(field, address, `must be an ${type} address`)];
}

function shorten(list: readonly string[]): string {
  const shown = list.slice(0, shownElements).join(",");
  if (list.length > shownElements) return `${shown} + ${list.length - shownElements} more...`;
  return shown || "<unset>";
}
