import type { Random } from "../util/clock.ts";
import { getInstances, listInstances } from "./calls/instances.ts";
import {
  applyNodeSet,
  deleteLoadBalancer,
  ensureLoadBalancer,
  getLoadBalancer,
  listLoadBalancers,
  updateLoadBalancerNodes,
} from "./calls/load-balancers.ts";
import { deleteRoutes, ensureRoutes, listRoutes } from "./calls/routes.ts";
import { getVolumes } from "./calls/volumes.ts";
import { watchInstances, watchLoadBalancers } from "./calls/watches.ts";
import type { ProviderClient } from "./model/client.ts";
import { NodeSets } from "./calls/node-sets.ts";
import type { Session } from "./calls/session.ts";

/** The calls of the contract over one session. */
export function contractClient(session: Session, random: Random): ProviderClient {
  const sets = new NodeSets((chunk, options) => applyNodeSet(session, chunk, options));
  return {
    getInstances: (nodes, options) => getInstances(session, nodes, options),
    listInstances: (options) => listInstances(session, options),
    watchInstances: (options) => watchInstances(session, random, options),

    getLoadBalancer: (ref, options) => getLoadBalancer(session, ref, options),
    listLoadBalancers: (options) => listLoadBalancers(session, options),
    ensureLoadBalancer: (input, options) => ensureLoadBalancer(session, sets, input, options),
    updateLoadBalancerNodes: (input, options) => updateLoadBalancerNodes(session, sets, input, options),
    deleteLoadBalancer: (ref, options) => deleteLoadBalancer(session, ref, options),
    watchLoadBalancers: (options) => watchLoadBalancers(session, random, options),
    applyNodeSet: (chunk, options) => applyNodeSet(session, chunk, options),

    listRoutes: (options) => listRoutes(session, options),
    ensureRoutes: (routes, options) => ensureRoutes(session, routes, options),
    deleteRoutes: (routes, options) => deleteRoutes(session, routes, options),

    getVolumes: (volumes, options) => getVolumes(session, volumes, options),
  };
}
