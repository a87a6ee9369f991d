import { type Service, isExternalName, isHeadless } from "./service.ts";

const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
const modeAnnotation = "service.kubernetes.io/topology-mode";

/** Warnings to clients about fields that are deprecated or have no effect (upstream pkg/api/service/warnings.go, v1.37). */
export function warnOfService(service: Service): readonly string[] {
  const { spec, metadata } = service;
  const headless = isHeadless(service);
  const external = isExternalName(service);
  const hasExternalIps = (spec.externalIPs?.length ?? 0) > 0;
  const rules: readonly (readonly [boolean, string])[] = [
    [
      metadata.annotations?.[hintsAnnotation] !== undefined,
      `annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`,
    ],
    [headless && (spec.loadBalancerIP ?? "") !== "", "spec.loadBalancerIP is ignored for headless services"],
    [headless && hasExternalIps, "spec.externalIPs is ignored for headless services"],
    [headless && spec.sessionAffinity !== "None", "spec.SessionAffinity is ignored for headless services"],
    [
      hasExternalIps && !headless && !external,
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    ],
    [external && hasExternalIps, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [
      !external && (spec.externalName ?? "") !== "",
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
    [
      spec.trafficDistribution === "PreferClose",
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ];
  return rules.flatMap(([applies, warning]) => (applies ? [warning] : []));
}
