import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { type LoadBalancerCapabilities, Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type ApplyNodeSetRequest,
  type EnsureLoadBalancerRequest,
  ExternalTrafficPolicy,
  type LoadBalancerSpec,
  type NodeSelection,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { AnnotationSchema } from "../../definition/provider.ts";
import { fromWireIpFamily, fromWireProtocol } from "../convert/common.ts";
import { type Violation, isKnownEnum, unknownEnum } from "./violation.ts";
import { isCidr, quote } from "@cloudwire/proto/formats";

/** What an Ensure must keep to beyond the rules of its fields: nothing is asked for that was not declared. */
export const checkEnsure = (
  request: EnsureLoadBalancerRequest,
  claimed: LoadBalancerCapabilities,
  annotations: readonly AnnotationSchema[],
): readonly Violation[] => {
  const { spec } = request;
  return [
    ...(spec ? checkSpec(spec, claimed) : []),
    ...(spec ? checkAnnotations(spec.annotations, annotations) : []),
    ...checkNodes(request.nodes),
    ...(request.adopt && !claimed.adopt ? [unsupported("adopt", "adoption of existing load balancers")] : []),
  ];
};

const unsupported = (field: string, feature: string): Violation => ({
  reason: "FEATURE_UNSUPPORTED",
  field,
  description: `asks for ${feature}, which this provider does not offer`,
});

const checkSpec = (spec: LoadBalancerSpec, claimed: LoadBalancerCapabilities): readonly Violation[] => [
  ...checkClass(spec.class, claimed),
  ...checkPorts(spec, claimed),
  ...checkFamilies(spec, claimed),
  ...checkFeatures(spec, claimed),
  ...checkHealthCheck(spec),
];

/** A check that cannot be made would take every node out. */
const checkHealthCheck = ({ healthCheck }: LoadBalancerSpec): readonly Violation[] =>
  healthCheck && !healthCheck.kind
    ? [{ reason: "FIELD_MISSING", field: "spec.health_check.kind", description: "is required" }]
    : [];

/** A class must be one of the declared; Services without one are the cluster's default provider's. */
const checkClass = (loadBalancerClass: string | undefined, claimed: LoadBalancerCapabilities): readonly Violation[] => {
  if (loadBalancerClass === undefined || claimed.classes.includes(loadBalancerClass)) return [];
  const served = claimed.classes.length === 0 ? "none is" : `${claimed.classes.map(quote).join(", ")} are`;
  const field = "spec.class";
  return [{ reason: "CLASS_UNSUPPORTED", field, description: `is ${quote(loadBalancerClass)}; ${served} served here` }];
};

const protocolName = (protocol: Protocol): string => fromWireProtocol(protocol) ?? `protocol ${protocol}`;

const checkPorts = (spec: LoadBalancerSpec, claimed: LoadBalancerCapabilities): readonly Violation[] => {
  const out: Violation[] = [];
  const firstAt = new Map<string, number>();
  const served = claimed.protocols.map(protocolName).join(", ");
  for (const [index, { port, protocol }] of spec.ports.entries()) {
    const field = `spec.ports[${index}]`;
    if (!isKnownEnum(Protocol, protocol)) out.push(unknownEnum(`${field}.protocol`, protocol));
    else if (protocol !== Protocol.UNSPECIFIED && !claimed.protocols.includes(protocol))
      out.push({
        reason: "PORT_PROTOCOL_UNSUPPORTED",
        field: `${field}.protocol`,
        description: `is ${protocolName(protocol)}; served are ${served}`,
      });
    const key = `${protocol}/${port}`;
    const earlier = firstAt.get(key);
    if (earlier === undefined) firstAt.set(key, index);
    else
      out.push({
        reason: "FIELD_INVALID",
        field,
        description: `is the same port and protocol as spec.ports[${earlier}]`,
      });
  }
  if (claimed.maxPorts > 0 && spec.ports.length > claimed.maxPorts)
    out.push({
      reason: "FIELD_TOO_LARGE",
      field: "spec.ports",
      description: `has ${spec.ports.length} ports; at most ${claimed.maxPorts} are served`,
    });
  const protocols = new Set(spec.ports.map(({ protocol }) => protocol));
  if (protocols.size > 1 && !claimed.mixedProtocols) out.push(unsupported("spec.ports", "mixed protocols"));
  return out;
};

const checkFamilies = (spec: LoadBalancerSpec, claimed: LoadBalancerCapabilities): readonly Violation[] => {
  const out: Violation[] = [];
  for (const [index, family] of spec.ipFamilies.entries()) {
    const field = `spec.ip_families[${index}]`;
    if (!isKnownEnum(IpFamily, family)) out.push(unknownEnum(field, family));
    else if (family !== IpFamily.UNSPECIFIED && !claimed.ipFamilies.includes(family))
      out.push(unsupported(field, fromWireIpFamily(family)));
    if (spec.ipFamilies.indexOf(family) < index)
      out.push({ reason: "FIELD_INVALID", field, description: "is given twice" });
  }
  if (spec.ipFamilies.length > 1 && !claimed.dualStack)
    out.push(unsupported("spec.ip_families", "two families at once"));
  return out;
};

const checkFeatures = (spec: LoadBalancerSpec, claimed: LoadBalancerCapabilities): readonly Violation[] => {
  const asked: readonly (readonly [wanted: boolean, offered: boolean, field: string, feature: string])[] = [
    [spec.sourceRanges !== undefined, claimed.sourceRanges, "spec.source_ranges", "source ranges"],
    [spec.requestedIps.length > 0, claimed.requestedIp, "spec.requested_ips", "requested addresses"],
    [spec.sessionAffinity !== undefined, claimed.sessionAffinity, "spec.session_affinity", "session affinity"],
    [spec.deletionProtection === true, claimed.deletionProtection, "spec.deletion_protection", "deletion protection"],
    [
      spec.externalTrafficPolicy === ExternalTrafficPolicy.LOCAL,
      claimed.externalTrafficPolicyLocal,
      "spec.external_traffic_policy",
      "external traffic policy Local",
    ],
  ];
  const policy = spec.externalTrafficPolicy;
  if (!isKnownEnum(ExternalTrafficPolicy, policy)) return [unknownEnum("spec.external_traffic_policy", policy)];
  return asked
    .filter(([wanted, offered]) => wanted && !offered)
    .map(([, , field, feature]) => unsupported(field, feature));
};

/** A selection must say where the nodes are: without it, it must not be read as "no nodes". */
export const checkNodes = (nodes: NodeSelection | undefined): readonly Violation[] => {
  if (!nodes) return [];
  if (!nodes.source) return [{ reason: "FIELD_MISSING", field: "nodes.source", description: "is required" }];
  if (nodes.source.$case === "nodeSetId" && nodes.source.value === "")
    return [{ reason: "FIELD_MISSING", field: "nodes.node_set_id", description: "is required" }];
  return [];
};

/** What a chunk of a node set must keep to beyond the rules of its fields. */
export const checkNodeSetChunk = (
  request: ApplyNodeSetRequest,
  claimed: LoadBalancerCapabilities,
): readonly Violation[] => {
  const out: Violation[] = [];
  if (request.chunkCount > 0 && request.chunkIndex >= request.chunkCount)
    out.push({
      reason: "FIELD_INVALID",
      field: "chunk_index",
      description: `is ${request.chunkIndex}; the chunks are 0 to ${request.chunkCount - 1}`,
    });
  if (request.baseFingerprint === "" && request.removedProviderIds.length > 0)
    out.push({
      reason: "FIELD_INVALID",
      field: "removed_provider_ids",
      description: "takes nodes out, but there is no base_fingerprint to take them from",
    });
  const maxNodes = claimed.nodeSets?.maxNodes ?? 0;
  if (request.targetCount > maxNodes)
    out.push({
      reason: "FIELD_TOO_LARGE",
      field: "target_count",
      description: `is ${request.targetCount}; a set has at most ${maxNodes} nodes`,
    });
  return out;
};

/** Violations in the annotations that the provider declares. It ignores others. */
export const checkAnnotations = (
  annotations: Readonly<Record<string, string>>,
  schemas: readonly AnnotationSchema[],
): readonly Violation[] =>
  schemas.flatMap((schema) => {
    const value = annotations[schema.key];
    const kind = kinds[schema.type];
    if (value === undefined || kind.takes(value, schema)) return [];
    const field = `spec.annotations[${JSON.stringify(schema.key)}]`;
    return [
      { reason: "ANNOTATION_INVALID", field, description: `is ${quote(value)}; it takes ${kind.wanted(schema)}` },
    ];
  });

/** As Go's time.ParseDuration reads it. */
const duration = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

const isList = (value: string, isItem: (item: string) => boolean): boolean =>
  value.split(",").every((item) => isItem(item.trim()));

interface Kind {
  readonly takes: (value: string, schema: AnnotationSchema) => boolean;
  readonly wanted: (schema: AnnotationSchema) => string;
}

const anyText: Kind = { takes: () => true, wanted: () => "any text" };

const kinds: Readonly<Record<AnnotationSchema["type"], Kind>> = {
  string: anyText,
  stringList: anyText,
  bool: { takes: (value) => value === "true" || value === "false", wanted: () => "true or false" },
  integer: { takes: (value) => /^-?\d{1,15}$/.test(value), wanted: () => "a whole number" },
  duration: { takes: (value) => duration.test(value), wanted: () => "a duration such as 1m30s" },
  enum: {
    takes: (value, { allowedValues }) => allowedValues?.includes(value) ?? false,
    wanted: ({ allowedValues }) => `one of ${(allowedValues ?? []).join(", ")}`,
  },
  cidrList: { takes: (value) => isList(value, isCidr), wanted: () => "address ranges separated by commas" },
  map: {
    takes: (value) => isList(value, (item) => item.includes("=")),
    wanted: () => "key=value pairs separated by commas",
  },
};
