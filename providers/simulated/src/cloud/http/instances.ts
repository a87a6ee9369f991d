import {
  CreateInstances,
  type Instance,
  InstanceIds,
  InstanceListQuery,
  type InstanceLookup,
  type InstancePage,
  InstancePatch,
  LookupInstances,
} from "../../api/instances.ts";
import { readQuery } from "../../api/common.ts";
import { createInstances, getInstance, moveInstance, patchInstance } from "../world/instances.ts";
import { instanceKind } from "../world/kinds.ts";
import type { World } from "../world/world.ts";
import { mutates, reads } from "./call.ts";
import { idParams, toFilter, withQuery } from "./params.ts";
import { readMany, readOne, readPage, requireReachable } from "./reading.ts";
import type { HttpServer } from "./server.ts";

export const addInstancePaths = (server: HttpServer, world: World): void => {
  addReads(server, world);
  addChanges(server, world);
};

const addReads = (server: HttpServer, world: World): void => {
  server.get(
    "/v1/instances",
    { schema: { querystring: InstanceListQuery }, ...reads("instances.list") },
    ({ call, query }): InstancePage => {
      const filter = { ...toFilter(query), zones: query.zone, states: query.state };
      const page = readPage(world, call, { ...query, kind: instanceKind, filter });
      call.asked = page.items.map(({ id }) => id);
      return page;
    },
  );
  server.post(
    "/v1/instances/lookup",
    { schema: { body: LookupInstances }, ...reads("instances.lookup") },
    ({ call, body }): InstanceLookup => {
      const { ids = [], names = [], consistent } = body;
      const answer = readMany(world, call, { kind: instanceKind, ids, names, consistent });
      call.asked = [...new Set([...ids, ...answer.items.map(({ id }) => id)])];
      return answer;
    },
  );
  server.get(
    "/v1/instances/:id",
    { schema: { params: idParams, querystring: withQuery(readQuery) }, ...reads("instances.get") },
    ({ call, params, query }): Instance => {
      call.asked = [params.id];
      return readOne(world, call, query.consistent, (snapshot) =>
        getInstance(world, call.account, params.id, snapshot),
      );
    },
  );
};

const addChanges = (server: HttpServer, world: World): void => {
  server.post(
    "/v1/instances",
    { schema: { body: CreateInstances }, ...mutates("instances.create") },
    async ({ call, body }, reply) => {
      for (const { zone } of body.items) requireReachable(call, zone);
      const items: Instance[] = createInstances(world, call.account, body.items);
      return reply.code(201).send({ items });
    },
  );
  server.patch(
    "/v1/instances/:id",
    { schema: { params: idParams, body: InstancePatch }, ...mutates("instances.update") },
    ({ call, params, body }): Instance => {
      requireReachable(call, getInstance(world, call.account, params.id).zone);
      return patchInstance(world, call.account, params.id, body);
    },
  );
  for (const action of ["start", "stop"] as const) {
    server.post(
      `/v1/instances/:id/${action}`,
      { schema: { params: idParams }, ...mutates(`instances.${action}`) },
      ({ call, params }): Instance => {
        requireReachable(call, getInstance(world, call.account, params.id).zone);
        return moveInstance(world, call.account, params.id, action);
      },
    );
  }
  server.delete(
    "/v1/instances/:id",
    { schema: { params: idParams }, ...mutates("instances.terminate") },
    ({ call, params }): Instance => {
      requireReachable(call, getInstance(world, call.account, params.id).zone);
      return moveInstance(world, call.account, params.id, "terminate");
    },
  );
  server.post(
    "/v1/instances/terminate",
    { schema: { body: InstanceIds }, ...mutates("instances.terminate") },
    ({ call, body }): { readonly items: Instance[] } =>
      world.database.transaction(() => ({
        items: body.ids.map((id) => moveInstance(world, call.account, id, "terminate")),
      })),
  );
};
