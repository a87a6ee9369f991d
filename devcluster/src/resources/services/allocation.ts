import { ApiError, invalid } from "../../api-error.ts";
import { sameJson } from "../../json.ts";
import { nameOf } from "../../object.ts";
import { type FieldError, invalidValue } from "../../validation/field-error.ts";
import type { Pool } from "./pool.ts";
import {
  type Service,
  type ServicePort,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheckPort,
  noClusterIp,
  nodePortsOf,
  withSpec,
} from "./service.ts";
import { validateClusterIps } from "./validate-cluster-ips.ts";

/** Where cluster IPs and node ports come from. */
export interface Pools {
  readonly clusterIps: Pool<string>;
  readonly nodePorts: Pool<number>;
}

/** Gives a new service its addresses and ports (upstream pkg/registry/core/service/storage/alloc.go allocateCreate, single stack). */
export function allocate(service: Service, pools: Pools): Service {
  const normalized = withClusterIps(service);
  const withFamilies = initFamilies(normalized, undefined);
  return allocatePorts(allocateClusterIp(withFamilies, pools), undefined, pools);
}

/** Keeps what the stored service has, and allocates or drops what the change calls for (upstream beginUpdate and allocateUpdate). */
export function reallocate(service: Service, old: Service, pools: Pools): Service {
  const patched = normalizeClusterIps(keepAllocated(service, old), old);
  const withFamilies = initFamilies(patched, old);
  const becomesInternal = isExternalName(old) && !isExternalName(withFamilies);
  const withIp = becomesInternal ? allocateClusterIp(withFamilies, pools) : withFamilies;
  return allocatePorts(withIp, old, pools);
}

function withClusterIps(service: Service): Service {
  const { clusterIP, clusterIPs } = service.spec;
  if (clusterIP === undefined || (clusterIPs?.length ?? 0) > 0) return service;
  return withSpec(service, { clusterIPs: [clusterIP] });
}

/** A client that knows only one of clusterIP and clusterIPs changes both. */
function normalizeClusterIps(service: Service, old: Service): Service {
  const { clusterIP, clusterIPs } = service.spec;
  const before = old.spec;
  if (before.clusterIP === clusterIP) {
    return clusterIPs === undefined ? withSpec(service, { clusterIPs: before.clusterIPs }) : service;
  }
  if (!sameJson(clusterIPs, before.clusterIPs)) return service;
  return withSpec(service, { clusterIPs: clusterIP === undefined ? undefined : [clusterIP] });
}

function keepAllocated(service: Service, old: Service): Service {
  let kept = service;
  if (!isExternalName(old) && !isExternalName(service)) {
    const { clusterIP, clusterIPs } = service.spec;
    kept = withSpec(kept, {
      clusterIP: clusterIP ?? old.spec.clusterIP,
      clusterIPs: clusterIPs ?? old.spec.clusterIPs,
    });
  }
  if (wantsNodePorts(old) && wantsNodePorts(kept)) kept = keepNodePorts(kept, old);
  if (needsHealthCheckPort(old) && needsHealthCheckPort(kept)) {
    kept = withSpec(kept, { healthCheckNodePort: kept.spec.healthCheckNodePort ?? old.spec.healthCheckNodePort });
  }
  return kept;
}

function keepNodePorts(service: Service, old: Service): Service {
  const stillUsed = nodePortsOf(old).filter((port) => nodePortsOf(service).includes(port));
  const byName = new Map((old.spec.ports ?? []).map((port) => [port.name ?? "", port.nodePort] as const));
  return withSpec(service, {
    ports: service.spec.ports?.map((port) => {
      const before = byName.get(port.name ?? "");
      const keep = port.nodePort === undefined && before !== undefined && !stillUsed.includes(before);
      return keep ? { ...port, nodePort: before } : port;
    }),
  });
}

function wantsNodePorts({ spec }: Service): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

/** Sets ipFamilies and ipFamilyPolicy of a cluster that has IPv4 only. */
function initFamilies(service: Service, old: Service | undefined): Service {
  if (isExternalName(service)) return service;
  const selectorless = Object.keys(service.spec.selector ?? {}).length === 0;
  const inferred = service.spec.clusterIP === noClusterIp && selectorless ? "RequireDualStack" : "SingleStack";
  const policy = service.spec.ipFamilyPolicy ?? old?.spec.ipFamilyPolicy ?? inferred;
  const decided = withSpec(service, { ipFamilyPolicy: policy });
  refuse(decided, validateClusterIps(decided));
  if (decided.spec.clusterIP === noClusterIp && selectorless) return headlessFamilies(decided);
  const families = decided.spec.ipFamilies ?? ["IPv4"];
  refuse(decided, [
    ...(policy === "RequireDualStack"
      ? [invalidValue("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")]
      : []),
    ...families.flatMap((family, index) =>
      family === "IPv4" ? [] : [invalidValue(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")],
    ),
  ]);
  return withSpec(decided, { ipFamilies: families });
}

/** A headless service without selector may hold endpoints of both families whatever the cluster has. */
function headlessFamilies(service: Service): Service {
  const families = service.spec.ipFamilies ?? ["IPv4"];
  if (families.length > 1 || service.spec.ipFamilyPolicy === "SingleStack") {
    return withSpec(service, { ipFamilies: families });
  }
  return withSpec(service, { ipFamilies: families[0] === "IPv4" ? ["IPv4", "IPv6"] : ["IPv6", "IPv4"] });
}

function allocateClusterIp(service: Service, { clusterIps }: Pools): Service {
  if (isExternalName(service) || isHeadless(service)) return service;
  const asked = service.spec.clusterIPs?.[0];
  if (asked === undefined || asked === "") {
    const ip = clusterIps.next();
    return withSpec(service, { clusterIP: ip, clusterIPs: [ip] });
  }
  const problem = clusterIps.problemWith(asked);
  if (problem !== undefined) {
    const detail = `failed to allocate IP ${asked}: ${problem}`;
    refuse(service, [invalidValue("spec.clusterIPs", service.spec.clusterIPs, detail)]);
  }
  return service;
}

function allocatePorts(service: Service, old: Service | undefined, pools: Pools): Service {
  const type = service.spec.type;
  const withPorts = type === "NodePort" || type === "LoadBalancer" ? allocateNodePorts(service, old, pools) : service;
  return needsHealthCheckPort(withPorts) && (old === undefined || !needsHealthCheckPort(old))
    ? allocateHealthCheckPort(withPorts, pools)
    : withPorts;
}

function allocateNodePorts(service: Service, old: Service | undefined, { nodePorts }: Pools): Service {
  const owned = new Set(old === undefined ? [] : nodePortsOf(old));
  const taken = new Set(nodePortsOf(service));
  const claimed = new Set<number>();
  const given = new Map<number, number>();
  const ports = (service.spec.ports ?? []).map((port, index): ServicePort => {
    const asked = port.nodePort ?? (old === undefined ? requestedFor(port, service) : undefined);
    if (asked === undefined && !wantsNodePorts(service)) return port;
    if (asked !== undefined) {
      const problem = problemWithNodePort(asked, port, {
        owned,
        given,
        claimed,
        nodePorts,
        creates: old === undefined,
      });
      if (problem !== undefined) refuse(service, [invalidValue(`spec.ports[${index}].nodePort`, asked, problem)]);
      given.set(port.port, asked);
      claimed.add(asked);
      return { ...port, nodePort: asked };
    }
    // Two ports of one number differ in protocol and share a node port, on creation only.
    const shared = old === undefined ? given.get(port.port) : undefined;
    const nodePort = shared ?? nodePorts.next(taken);
    taken.add(nodePort);
    given.set(port.port, nodePort);
    return { ...port, nodePort };
  });
  return withSpec(service, { ports: service.spec.ports === undefined ? undefined : ports });
}

interface Claims {
  /** What the stored service has already. */
  readonly owned: ReadonlySet<number>;
  /** Node port by port, of the ports before this one. */
  readonly given: ReadonlyMap<number, number>;
  readonly claimed: ReadonlySet<number>;
  readonly nodePorts: Pools["nodePorts"];
  readonly creates: boolean;
}

function problemWithNodePort(asked: number, port: ServicePort, claims: Claims): string | undefined {
  if (claims.owned.has(asked) || claims.given.get(port.port) === asked) return undefined;
  // On update, validation finds the double later.
  if (claims.claimed.has(asked)) return claims.creates ? claims.nodePorts.takenText : undefined;
  return claims.nodePorts.problemWith(asked);
}

function requestedFor(port: ServicePort, service: Service): number | undefined {
  return service.spec.ports?.find((other) => other.port === port.port && other.nodePort !== undefined)?.nodePort;
}

function allocateHealthCheckPort(service: Service, { nodePorts }: Pools): Service {
  const asked = service.spec.healthCheckNodePort;
  if (asked === undefined) {
    return withSpec(service, { healthCheckNodePort: nodePorts.next(new Set(nodePortsOf(service))) });
  }
  const problem = nodePorts.problemWith(asked);
  if (problem === undefined) return service;
  throw new ApiError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`,
    details: { causes: [{ message: `failed to allocate requested HealthCheck NodePort ${asked}: ${problem}` }] },
  });
}

/** Throws the 422 of a service when there is anything to say. */
function refuse(service: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "", kind: "Service" }, nameOf(service), errors);
}

/** Clears what a changed type no longer has, unless the client set it itself (upstream strategy.go dropTypeDependentFields). */
export function dropTypeDependentFields(service: Service, old: Service): Service {
  let kept = service;
  if (!isExternalName(old) && isExternalName(service)) {
    kept = withSpec(kept, clearedIfSame(service, old));
  }
  const exposed = ["NodePort", "LoadBalancer"];
  const losesNodePorts = exposed.includes(old.spec.type ?? "") && !exposed.includes(service.spec.type ?? "");
  if (losesNodePorts && nodePortsOf(service).every((port) => nodePortsOf(old).includes(port))) {
    kept = withSpec(kept, { ports: kept.spec.ports?.map((port) => ({ ...port, nodePort: undefined })) });
  }
  return withSpec(kept, {
    ...dropped(needsHealthCheckPort, "healthCheckNodePort", kept, old),
    ...dropped(isLoadBalancer, "allocateLoadBalancerNodePorts", kept, old),
    ...dropped(isLoadBalancer, "loadBalancerClass", kept, old),
    ...dropped((candidate) => exposed.includes(candidate.spec.type ?? ""), "externalTrafficPolicy", kept, old),
  });
}

function clearedIfSame(service: Service, old: Service): Partial<Service["spec"]> {
  const { spec } = service;
  const sameIps = spec.clusterIP === old.spec.clusterIP && sameJson(spec.clusterIPs, old.spec.clusterIPs);
  return {
    ...(sameIps ? { clusterIP: undefined, clusterIPs: undefined } : {}),
    ...(sameJson(spec.ipFamilies, old.spec.ipFamilies) ? { ipFamilies: undefined } : {}),
    ...(spec.ipFamilyPolicy === old.spec.ipFamilyPolicy ? { ipFamilyPolicy: undefined } : {}),
  };
}

function dropped(
  applies: (service: Service) => boolean,
  field: "healthCheckNodePort" | "allocateLoadBalancerNodePorts" | "loadBalancerClass" | "externalTrafficPolicy",
  service: Service,
  old: Service,
): Partial<Service["spec"]> {
  const lost = applies(old) && !applies(service) && service.spec[field] === old.spec[field];
  return lost ? { [field]: undefined } : {};
}
