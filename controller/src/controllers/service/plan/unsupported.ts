import type { Service } from "../../../api/service.ts";
import { sourceRanges } from "../../../util/values/source-ranges.ts";
import type { LoadBalancerCapabilities } from "../../../provider/model/info.ts";

/** A feature that a Service requests and the provider does not support. */
export interface UnsupportedRequest {
  /** Missing capability, CamelCase: `SourceRanges`. */
  readonly feature: string;
  /** Path within the Service: `spec.ports[1].protocol`. */
  readonly field: string;
  /** Sentence for the user: what was requested and what is supported. */
  readonly message: string;
  /** "refused": without the feature the load balancer would not work or be unsafe, so none is created. "ignored": it works without. */
  readonly effect: "refused" | "ignored";
}

/** In the order of the spec. */
export function unsupportedRequests(
  service: Service,
  capabilities: LoadBalancerCapabilities,
): readonly UnsupportedRequest[] {
  return [
    ...portRequests(service, capabilities),
    ...familyRequests(service, capabilities),
    ...accessRequests(service, capabilities),
    ...trafficRequests(service, capabilities),
  ];
}

/** Why the desired state is not requested. The load balancer of the last accepted spec is kept current. */
export interface Refusal {
  readonly message: string;
  /** undefined: when the Service or the provider changes. */
  readonly retryAfterMs: number | undefined;
  /** `retryAfterMs` in words. */
  readonly nextTry: string;
}

export const NEXT_TRY = "retrying when the Service or the provider changes";

export function refusalOf(unsupported: readonly UnsupportedRequest[]): Refusal | undefined {
  const refused = unsupported.filter(({ effect }) => effect === "refused");
  if (refused.length === 0) return undefined;
  const message = refused.map((request) => `${request.field}: ${request.message}`).join("; ");
  return { message, retryAfterMs: undefined, nextTry: NEXT_TRY };
}

function portRequests({ spec }: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const { protocols, mixedProtocols, maxPorts, needsNodePorts } = capabilities;
  const requests: UnsupportedRequest[] = [];
  for (const [index, { port, protocol, nodePort }] of spec.ports.entries()) {
    if (!protocols.some((served) => served === protocol)) {
      const message = `port ${port}/${protocol}: the provider serves ${protocols.join(", ")} only`;
      requests.push({ feature: "Protocols", field: `spec.ports[${index}].protocol`, message, effect: "refused" });
    }
    if (needsNodePorts && nodePort === 0) {
      const message = `port ${port}/${protocol} has no node port, and the provider forwards to node ports; set allocateLoadBalancerNodePorts to true`;
      requests.push({ feature: "NodePorts", field: `spec.ports[${index}].nodePort`, message, effect: "refused" });
    }
  }
  const used = [...new Set(spec.ports.map(({ protocol }) => protocol))];
  if (!mixedProtocols && used.length > 1) {
    const message = `ports use ${used.join(" and ")}; the provider supports one protocol per load balancer`;
    requests.push({ feature: "MixedProtocols", field: "spec.ports", message, effect: "refused" });
  }
  if (maxPorts !== undefined && spec.ports.length > maxPorts) {
    const message = `${spec.ports.length} ports; the provider supports ${maxPorts} per load balancer`;
    requests.push({ feature: "MaxPorts", field: "spec.ports", message, effect: "refused" });
  }
  return requests;
}

function familyRequests({ spec }: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const { ipFamilies, dualStack } = capabilities;
  const served = spec.ipFamilies.filter((family) => ipFamilies.some((known) => known === family));
  const wantsTwo = spec.ipFamilies.length > 1;
  const required = spec.ipFamilyPolicy === "RequireDualStack" || (spec.ipFamilies.length > 0 && served.length === 0);
  if (served.length === spec.ipFamilies.length && (!wantsTwo || dualStack)) return [];
  const offer =
    ipFamilies.length > 1 && !dualStack ? `${ipFamilies.join(" or ")}, not both` : `${ipFamilies.join(", ")} only`;
  return [
    {
      feature: wantsTwo && ipFamilies.length > 1 ? "DualStack" : "IpFamilies",
      field: "spec.ipFamilies",
      message: `${spec.ipFamilies.join(" and ")} requested; the provider serves ${offer}`,
      effect: required ? "refused" : "ignored",
    },
  ];
}

function accessRequests(service: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const requests: UnsupportedRequest[] = [];
  const ranges = sourceRanges(service);
  if (!capabilities.sourceRanges && ranges.length > 0) {
    const message = `clients are limited to ${ranges.slice(0, 3).join(", ")}${ranges.length > 3 ? ", …" : ""}; the provider cannot restrict clients, and would allow all`;
    requests.push({ feature: "SourceRanges", field: "spec.loadBalancerSourceRanges", message, effect: "refused" });
  }
  const { loadBalancerIP } = service.spec;
  if (!capabilities.requestedIp && loadBalancerIP !== "") {
    const message = `address ${loadBalancerIP} requested; the provider selects addresses itself`;
    requests.push({ feature: "RequestedIp", field: "spec.loadBalancerIP", message, effect: "ignored" });
  }
  return requests;
}

function trafficRequests({ spec }: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const requests: UnsupportedRequest[] = [];
  if (!capabilities.sessionAffinity && spec.sessionAffinity === "ClientIP") {
    const message =
      "session affinity ClientIP requested; the provider distributes the connections of a client over nodes";
    requests.push({ feature: "SessionAffinity", field: "spec.sessionAffinity", message, effect: "ignored" });
  }
  if (!capabilities.externalTrafficPolicyLocal && spec.externalTrafficPolicy === "Local") {
    const message =
      "external traffic policy Local requested; the provider does not check which nodes have a pod, and traffic to other nodes would be lost";
    requests.push({
      feature: "ExternalTrafficPolicyLocal",
      field: "spec.externalTrafficPolicy",
      message,
      effect: "refused",
    });
  }
  return requests;
}
