import { type Service, sourceRanges } from "../../../api/service.ts";
import type { LoadBalancerCapabilities } from "../../../provider/model/info.ts";

/** Something that a Service asks of its load balancer and the provider does not offer. */
export interface UnsupportedRequest {
  /** Capability that is missing, CamelCase: `SourceRanges`. */
  readonly feature: string;
  /** Path within the Service: `spec.ports[1].protocol`. */
  readonly field: string;
  /** What was asked for and what is offered, one sentence for the user. */
  readonly message: string;
  /**
   * "refused": without it the load balancer would not do, or would do harm (open to everybody, dropping traffic), so none is
   * made. "ignored": it works without.
   */
  readonly effect: "refused" | "ignored";
}

/** All of them, in the order of the spec. Empty: everything can be asked for. */
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

/** Why the wish of today is not carried out. The load balancer of the last wish that was accepted is kept up meanwhile. */
export interface Refusal {
  readonly message: string;
  /** undefined: not until the Service or the provider changes. */
  readonly retryAfterMs: number | undefined;
  /** The same in words for the user. */
  readonly nextTry: string;
}

/** When every refusal is tried again. */
export const NEXT_TRY = "retrying when the Service or the provider changes";

/** The provider does not offer what must not be left out. */
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
    const message = `ports use ${used.join(" and ")}; the provider takes one protocol a load balancer`;
    requests.push({ feature: "MixedProtocols", field: "spec.ports", message, effect: "refused" });
  }
  if (maxPorts !== undefined && spec.ports.length > maxPorts) {
    const message = `${spec.ports.length} ports; the provider takes ${maxPorts} a load balancer`;
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
      message: `${spec.ipFamilies.join(" and ")} asked for; the provider serves ${offer}`,
      effect: required ? "refused" : "ignored",
    },
  ];
}

function accessRequests(service: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const requests: UnsupportedRequest[] = [];
  const ranges = sourceRanges(service);
  if (!capabilities.sourceRanges && ranges.length > 0) {
    const message = `clients are limited to ${ranges.slice(0, 3).join(", ")}${ranges.length > 3 ? ", …" : ""}; the provider cannot limit clients, and would let everybody in`;
    requests.push({ feature: "SourceRanges", field: "spec.loadBalancerSourceRanges", message, effect: "refused" });
  }
  const { loadBalancerIP } = service.spec;
  if (!capabilities.requestedIp && loadBalancerIP !== "") {
    const message = `address ${loadBalancerIP} asked for; the provider chooses addresses itself`;
    requests.push({ feature: "RequestedIp", field: "spec.loadBalancerIP", message, effect: "ignored" });
  }
  return requests;
}

function trafficRequests({ spec }: Service, capabilities: LoadBalancerCapabilities): readonly UnsupportedRequest[] {
  const requests: UnsupportedRequest[] = [];
  if (!capabilities.sessionAffinity && spec.sessionAffinity === "ClientIP") {
    const message = "session affinity ClientIP asked for; the provider spreads a client's connections over nodes";
    requests.push({ feature: "SessionAffinity", field: "spec.sessionAffinity", message, effect: "ignored" });
  }
  if (!capabilities.externalTrafficPolicyLocal && spec.externalTrafficPolicy === "Local") {
    const message =
      "external traffic policy Local asked for; the provider does not ask nodes whether they have a pod, and traffic to the others would be lost";
    requests.push({
      feature: "ExternalTrafficPolicyLocal",
      field: "spec.externalTrafficPolicy",
      message,
      effect: "refused",
    });
  }
  return requests;
}
