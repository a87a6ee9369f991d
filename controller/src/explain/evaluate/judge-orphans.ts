import type { Orphan } from "@cloudwire/operator-api";
import type { Mode } from "../../observe/mode.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Route } from "../../provider/model/route.ts";

/** What there is in the cluster that something at a cloud may belong to. */
export interface Owners {
  hasService(uid: string): boolean;
  /** There is a Service of that name, whatever its UID. */
  hasServiceNamed(key: string): boolean;
  hasNode(name: string): boolean;
  hasMachine(providerId: string): boolean;
}

/** Load balancers with this cluster's stamp whose Service is no more. Needs a provider's list and the Services by UID. */
export function orphanedLoadBalancers(
  provider: string,
  all: readonly LoadBalancer[],
  owners: Pick<Owners, "hasService" | "hasServiceNamed">,
): readonly Orphan[] {
  return all
    .filter(({ service }) => !owners.hasService(service.uid))
    .map(({ id, service, phase }) => {
      const key = `${service.namespace}/${service.name}`;
      return {
        provider,
        kind: "loadBalancer",
        id,
        owner: `service/${key}`,
        message: loadBalancerMessage(key, service.uid, phase, owners),
      };
    });
}

function loadBalancerMessage(
  key: string,
  uid: string,
  phase: LoadBalancer["phase"],
  owners: Pick<Owners, "hasServiceNamed">,
): string {
  if (phase === "deleting") return "It is being taken down at the cloud.";
  const anew = owners.hasServiceNamed(key) ? "; the one of that name was made anew and is another one" : "";
  return `No Service has UID ${uid}${anew}. It is left alone: delete it at the cloud if nobody needs it.`;
}

export interface RouteRules {
  /** What node-route-controller does about routes of the provider, here or where it leads; `off`: it does not run. */
  readonly management: Mode | "off";
  /** The list is: without all of it none is removed. */
  readonly complete: boolean;
  /** It lies wholly inside --cluster-cidr. */
  readonly isDeletable: (route: Route) => boolean;
}

/** Routes of this cluster that lead to no Node. Needs a provider's list, the Nodes by name and by machine. */
export function orphanedRoutes(
  provider: string,
  all: readonly Route[],
  owners: Pick<Owners, "hasNode" | "hasMachine">,
  rules: RouteRules,
): readonly Orphan[] {
  return all
    .filter(
      ({ targetNodeName, targetProviderId }) => !owners.hasNode(targetNodeName) && !owners.hasMachine(targetProviderId),
    )
    .map((route) => ({
      provider,
      kind: "route",
      id: route.id === "" ? route.destinationCidr : route.id,
      owner: route.targetNodeName === "" ? "" : `node/${route.targetNodeName}`,
      message: `It leads to ${route.destinationCidr} of a Node that is no more. ${routeFate(route, rules)}`,
    }));
}

function routeFate(route: Route, { management, complete, isDeletable }: RouteRules): string {
  if (management === "off") return "It is left alone, for node-route-controller does not run here.";
  if (!isDeletable(route)) return "It is left alone, for it does not lie inside --cluster-cidr.";
  if (management === "observe") return "It is left alone, for node-route-controller only observes here (--mode).";
  return complete
    ? "node-route-controller removes it at its next pass."
    : "It is left alone until the provider's list is complete.";
}
