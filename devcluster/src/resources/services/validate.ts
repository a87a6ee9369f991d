import { isAddress, isCidr, looksLikeAddress } from "../../validation/addresses.ts";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../../validation/field-error.ts";
import { validateLabels, validateText } from "../../validation/metadata.ts";
import { dnsSubdomain, portNumber, qualifiedName } from "../../validation/names.ts";
import {
  type Ingress,
  type Service,
  isExternalName,
  isExternallyAccessible,
  isHeadless,
  isLoadBalancer,
  needsHealthCheckPort,
} from "./service.ts";
import { validateClusterIps } from "./validate-cluster-ips.ts";
import { validatePorts } from "./validate-ports.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];
const trafficPolicies = ["Cluster", "Local"];
const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const sourceRangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
/** A day (upstream MaxClientIPServiceAffinitySeconds). */
const maxStickySeconds = 86_400;

/** Rules of a Service besides its metadata (upstream pkg/apis/core/validation validateService, v1.37). */
export function validateService(service: Service): readonly FieldError[] {
  return [
    ...validateTypeFields(service),
    ...validatePorts(service, "form"),
    ...validateLabels(service.spec.selector, "spec.selector"),
    ...validateAffinity(service),
    ...validateClusterIps(service),
    ...validateExternalIps(service),
    ...validateType(service),
    ...validatePorts(service, "duplicates"),
    ...validateSourceRanges(service),
    ...validateRequestedNodePort(service),
    ...validateClass(service),
    ...validateTrafficPolicies(service),
  ];
}

export function validateServiceUpdate(service: Service, old: Service): readonly FieldError[] {
  return [
    ...validateClusterIpsKept(service, old),
    ...validateClassKept(service, old),
    ...validateHealthCheckPortKept(service, old),
    ...validateService(service),
  ];
}

function validateTypeFields(service: Service): readonly FieldError[] {
  const { spec } = service;
  const noPorts = (spec.ports?.length ?? 0) === 0 && !isHeadless(service) && !isExternalName(service);
  const errors = noPorts ? [required("spec.ports")] : [];
  if (isHeadless(service) && (spec.type === "LoadBalancer" || spec.type === "NodePort")) {
    return [
      ...errors,
      invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`),
    ];
  }
  return isExternalName(service) ? [...errors, ...validateExternalName(service)] : errors;
}

function validateExternalName({ spec }: Service): readonly FieldError[] {
  const detail = "may not be set for ExternalName services";
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  return [
    ...((spec.clusterIPs?.length ?? 0) > 0 ? [forbiddenField("spec.clusterIPs", detail)] : []),
    ...((spec.ipFamilies?.length ?? 0) > 0 ? [forbiddenField("spec.ipFamilies", detail)] : []),
    ...(spec.ipFamilyPolicy === undefined ? [] : [forbiddenField("spec.ipFamilyPolicy", detail)]),
    ...(name === "" ? [required("spec.externalName")] : validateText("spec.externalName", name, dnsSubdomain)),
  ];
}

function validateAffinity({ spec }: Service): readonly FieldError[] {
  const affinity = spec.sessionAffinity ?? "";
  if (!affinities.includes(affinity)) return [notSupported("spec.sessionAffinity", affinity, affinities)];
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (affinity !== "ClientIP" || seconds === undefined || (seconds > 0 && seconds <= maxStickySeconds)) return [];
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  return [invalidValue(field, seconds, `must be greater than 0 and less than ${maxStickySeconds}`)];
}

function validateExternalIps({ spec }: Service): readonly FieldError[] {
  return (spec.externalIPs ?? []).flatMap((address, index) => {
    const field = `spec.externalIPs[${index}]`;
    const errors = isAddress(field, address);
    return errors.length > 0 ? errors : validateUsableAddress(field, address);
  });
}

function validateUsableAddress(field: string, address: string): readonly FieldError[] {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/^0\.0\.0\.0$/, "may not be unspecified (0.0.0.0)"],
    [/^::$/, "may not be unspecified (::)"],
    [/^(?:127\.|::1$)/, "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
    [/^(?:169\.254\.|fe[89ab])/i, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
    [/^(?:224\.0\.0\.|ff02:)/i, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ];
  return rules.flatMap(([pattern, detail]) => (pattern.test(address) ? [invalidValue(field, address, detail)] : []));
}

function validateType({ spec }: Service): readonly FieldError[] {
  return types.includes(spec.type ?? "") ? [] : [notSupported("spec.type", spec.type, types)];
}

function validateSourceRanges(service: Service): readonly FieldError[] {
  const detail = "may only be used when `type` is 'LoadBalancer'";
  const ranges = service.spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const field = "spec.LoadBalancerSourceRanges";
    const errors = ranges.flatMap((range, index) => isCidr(`${field}[${index}]`, range.trim()));
    return isLoadBalancer(service) ? errors : [forbiddenField(field, detail), ...errors];
  }
  const annotation = service.metadata.annotations?.[sourceRangesAnnotation];
  if (annotation === undefined) return [];
  const field = `metadata.annotations[${sourceRangesAnnotation}]`;
  const listed = annotation.trim() === "" ? [] : annotation.split(",");
  const errors = listed.flatMap((range) => isCidr(field, range.trim()));
  return isLoadBalancer(service) ? errors : [forbiddenField(field, detail), ...errors];
}

function validateRequestedNodePort(service: Service): readonly FieldError[] {
  if (service.spec.allocateLoadBalancerNodePorts === undefined || isLoadBalancer(service)) return [];
  return [forbiddenField("spec.allocateLoadBalancerNodePorts", "may only be used when `type` is 'LoadBalancer'")];
}

function validateClass(service: Service): readonly FieldError[] {
  const field = "spec.loadBalancerClass";
  const name = service.spec.loadBalancerClass;
  if (name === undefined) return [];
  if (isLoadBalancer(service)) return validateText(field, name, qualifiedName);
  return [forbiddenField(field, "may only be used when `type` is 'LoadBalancer'")];
}

function validateTrafficPolicies(service: Service): readonly FieldError[] {
  const { spec } = service;
  const { internalTrafficPolicy: internal, trafficDistribution: distribution } = spec;
  return [
    ...validateExternalPolicy(service),
    ...validateHealthCheckPort(service),
    ...(internal === undefined || trafficPolicies.includes(internal)
      ? []
      : [notSupported("spec.internalTrafficPolicy", internal, trafficPolicies)]),
    ...(distribution === undefined || distributions.includes(distribution)
      ? []
      : [notSupported("spec.trafficDistribution", distribution, distributions)]),
  ];
}

function validateExternalPolicy(service: Service): readonly FieldError[] {
  const field = "spec.externalTrafficPolicy";
  const policy = service.spec.externalTrafficPolicy;
  if (!isExternallyAccessible(service)) {
    return policy === undefined
      ? []
      : [invalidValue(field, policy, "may only be set for externally-accessible services")];
  }
  if (policy === undefined) return [required(field)];
  return trafficPolicies.includes(policy) ? [] : [notSupported(field, policy, trafficPolicies)];
}

function validateHealthCheckPort(service: Service): readonly FieldError[] {
  const field = "spec.healthCheckNodePort";
  const port = service.spec.healthCheckNodePort;
  if (needsHealthCheckPort(service)) {
    if (port === undefined) return [required(field)];
    return portNumber(port).map((complaint) => invalidValue(field, port, complaint));
  }
  const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return port === undefined ? [] : [invalidValue(field, port, detail)];
}

function validateClusterIpsKept(service: Service, old: Service): readonly FieldError[] {
  if (isExternalName(service) || isExternalName(old) || (isHeadless(service) && isHeadless(old))) return [];
  const before = old.spec.clusterIPs ?? [];
  const after = service.spec.clusterIPs ?? [];
  const field = "spec.clusterIPs[0]";
  if (before.length > 0 && after.length === 0)
    return [invalidValue(field, after, "primary clusterIP can not be unset")];
  return before.length > 0 && before[0] !== after[0] ? [invalidValue(field, after, "may not change once set")] : [];
}

function validateClassKept(service: Service, old: Service): readonly FieldError[] {
  const name = service.spec.loadBalancerClass;
  if (!isLoadBalancer(old) || !isLoadBalancer(service)) return validateClass(service);
  const changed = name !== old.spec.loadBalancerClass;
  const errors = changed ? [invalidValue("spec.loadBalancerClass", name, "may not change once set")] : [];
  return [...errors, ...validateClass(service)];
}

function validateHealthCheckPortKept(service: Service, old: Service): readonly FieldError[] {
  if (!needsHealthCheckPort(old) || !needsHealthCheckPort(service)) return [];
  if (service.spec.healthCheckNodePort === old.spec.healthCheckNodePort) return [];
  return [forbiddenField("spec.healthCheckNodePort", "field is immutable")];
}

/** Rules of the status of a Service. */
export function validateServiceStatus(service: Service): readonly FieldError[] {
  const field = "status.loadBalancer.ingress";
  const ingress = service.status.loadBalancer.ingress ?? [];
  if (!isLoadBalancer(service) && ingress.length > 0) {
    return [forbiddenField(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return ingress.flatMap((entry, index) => validateIngressEntry(entry, `${field}[${index}]`));
}

function validateIngressEntry(entry: Ingress, field: string): readonly FieldError[] {
  const { ip, hostname, ipMode } = entry;
  const errors = ip === undefined ? [] : [...isAddress(`${field}.ip`, ip)];
  if (ipMode === undefined && ip !== undefined) {
    errors.push(required(`${field}.ipMode`, "must be specified when `ip` is set"));
  }
  if (ipMode !== undefined && ip === undefined) {
    errors.push(forbiddenField(`${field}.ipMode`, "may not be specified when `ip` is not set"));
  }
  if (ipMode !== undefined && ip !== undefined && ipMode !== "VIP" && ipMode !== "Proxy") {
    errors.push(notSupported(`${field}.ipMode`, ipMode, ["Proxy", "VIP"]));
  }
  if (hostname === undefined) return errors;
  const hostErrors = validateText(`${field}.hostname`, hostname, dnsSubdomain);
  const isIp = looksLikeAddress(hostname);
  const mistaken = isIp ? [invalidValue(`${field}.hostname`, hostname, "must be a DNS name, not an IP address")] : [];
  return [...errors, ...hostErrors, ...mistaken];
}
