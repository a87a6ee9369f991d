import {
  ChangeTargets,
  IfRevision,
  type LoadBalancer,
  type LoadBalancerChange,
  LoadBalancerListQuery,
  type LoadBalancerPage,
  LoadBalancerPatch,
  LoadBalancerSpec,
  type Operation,
  ReplaceTargets,
} from "../../api/load-balancers.ts";
import { readQuery } from "../../api/common.ts";
import type { Activation } from "../world/activation.ts";
import { instanceKind, loadBalancerKind, operationKind } from "../world/kinds.ts";
import {
  createLoadBalancer,
  deleteLoadBalancer,
  getLoadBalancer,
  type LoadBalancerChanged,
  patchLoadBalancer,
  setTargets,
} from "../world/load-balancers.ts";
import { getOperation, withProgress } from "../world/operations.ts";
import { targetsOf } from "../world/targets.ts";
import type { World } from "../world/world.ts";
import { type Call, mutates, reads } from "./call.ts";
import { idParams, toFilter, withQuery } from "./params.ts";
import { readOne, readPage } from "./reading.ts";
import type { HttpServer } from "./server.ts";

export const addLoadBalancerPaths = (server: HttpServer, world: World, activation: Activation): void => {
  addReads(server, world);
  addChanges(server, world, activation);
  addTargetPaths(server, world, activation);
};

const addReads = (server: HttpServer, world: World): void => {
  server.get(
    "/v1/load-balancers",
    { schema: { querystring: LoadBalancerListQuery }, ...reads("loadBalancers.list") },
    ({ call, query }): LoadBalancerPage =>
      readPage(world, call, { ...query, kind: loadBalancerKind, filter: toFilter(query) }),
  );
  server.get(
    "/v1/load-balancers/:id",
    { schema: { params: idParams, querystring: withQuery(readQuery) }, ...reads("loadBalancers.get") },
    ({ call, params, query }): LoadBalancer =>
      readOne(world, call, query.consistent, (snapshot) => getLoadBalancer(world, call.account, params.id, snapshot)),
  );
  server.get(
    "/v1/operations/:id",
    { schema: { params: idParams }, ...reads("operations.get") },
    ({ call, params }): Operation => getOperation(world, call.account, params.id),
  );
};

const addChanges = (server: HttpServer, world: World, activation: Activation): void => {
  server.post(
    "/v1/load-balancers",
    { schema: { body: LoadBalancerSpec }, ...mutates("loadBalancers.create") },
    async ({ call, body }, reply) => {
      const changed = createLoadBalancer(world, call.account, body);
      return reply.code(201).send(await settle(world, activation, call, changed));
    },
  );
  server.patch(
    "/v1/load-balancers/:id",
    {
      schema: { params: idParams, querystring: IfRevision, body: LoadBalancerPatch },
      ...mutates("loadBalancers.update"),
    },
    async ({ call, params, query, body }): Promise<LoadBalancerChange> => {
      const changed = patchLoadBalancer(world, call.account, params.id, body, query.ifRevision);
      return settle(world, activation, call, changed);
    },
  );
  server.delete(
    "/v1/load-balancers/:id",
    { schema: { params: idParams, querystring: IfRevision }, ...mutates("loadBalancers.delete") },
    async ({ call, params, query }, reply) => {
      const loadBalancer = deleteLoadBalancer(world, call.account, params.id, query.ifRevision);
      return reply.code(202).send(await settle(world, activation, call, { loadBalancer, ignoredTargets: [] }));
    },
  );
};

const addTargetPaths = (server: HttpServer, world: World, activation: Activation): void => {
  server.get(
    "/v1/load-balancers/:id/targets",
    { schema: { params: idParams }, ...reads("loadBalancers.targets") },
    ({ call, params }) => {
      getLoadBalancer(world, call.account, params.id);
      return { items: targetsOf(world.database, params.id).map((id) => toTarget(world, call.account, id)) };
    },
  );
  server.put(
    "/v1/load-balancers/:id/targets",
    { schema: { params: idParams, body: ReplaceTargets }, ...mutates("loadBalancers.replaceTargets") },
    async ({ call, params, body }): Promise<LoadBalancerChange> => {
      const changed = setTargets(world, call.account, params.id, { targets: body.targets }, body.metadata);
      return settle(world, activation, call, changed);
    },
  );
  server.post(
    "/v1/load-balancers/:id/targets",
    { schema: { params: idParams, body: ChangeTargets }, ...mutates("loadBalancers.changeTargets") },
    async ({ call, params, body }): Promise<LoadBalancerChange> => {
      const change = { add: body.add ?? [], remove: body.remove ?? [] };
      const changed = setTargets(world, call.account, params.id, change, body.metadata);
      return settle(world, activation, call, changed);
    },
  );
};

/** What takes no time is finished before the answer; for the rest the answer names the operation to ask for. */
const settle = async (
  world: World,
  activation: Activation,
  call: Call,
  { loadBalancer: { id, operationId, ...changed }, ignoredTargets }: LoadBalancerChanged,
): Promise<LoadBalancerChange> => {
  if (operationId !== undefined) await activation.advance(call.account, id);
  const latest = world.store.get(loadBalancerKind, call.account, id) ?? { ...changed, id };
  const operation = operationId === undefined ? undefined : world.store.get(operationKind, call.account, operationId);
  return {
    loadBalancer: latest,
    ...(operation ? { operation: withProgress(operation, world.clock.now()) } : {}),
    ignoredTargets: [...ignoredTargets],
  };
};

const toTarget = (world: World, account: string, instanceId: string) => {
  const address = world.store.get(instanceKind, account, instanceId)?.internalAddresses[0];
  return address === undefined ? { instanceId } : { instanceId, address };
};
