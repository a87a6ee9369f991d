import { readQuery } from "../../api/common.ts";
import { LookupVolumes, type Volume, VolumeListQuery, type VolumeLookup, VolumeSpec } from "../../api/volumes.ts";
import { volumeKind } from "../world/kinds.ts";
import { createVolume, deleteVolume, getVolume } from "../world/volumes.ts";
import type { World } from "../world/world.ts";
import { mutates, reads } from "./call.ts";
import { idParams, toFilter, withQuery } from "./params.ts";
import { readMany, readOne, readPage, requireReachable } from "./reading.ts";
import type { HttpServer } from "./server.ts";

export const addVolumePaths = (server: HttpServer, world: World): void => {
  server.get("/v1/volumes", { schema: { querystring: VolumeListQuery }, ...reads("volumes.list") }, ({ call, query }) =>
    readPage(world, call, { ...query, kind: volumeKind, filter: { ...toFilter(query), zones: query.zone } }),
  );
  server.post(
    "/v1/volumes/lookup",
    { schema: { body: LookupVolumes }, ...reads("volumes.lookup") },
    ({ call, body }): VolumeLookup => readMany(world, call, { ...body, kind: volumeKind, names: [] }),
  );
  server.get(
    "/v1/volumes/:id",
    { schema: { params: idParams, querystring: withQuery(readQuery) }, ...reads("volumes.get") },
    ({ call, params, query }): Volume =>
      readOne(world, call, query.consistent, (snapshot) => getVolume(world, call.account, params.id, snapshot)),
  );
  server.post(
    "/v1/volumes",
    { schema: { body: VolumeSpec }, ...mutates("volumes.create") },
    async ({ call, body }, reply) => {
      requireReachable(call, body.zone);
      return reply.code(201).send(createVolume(world, call.account, body));
    },
  );
  server.delete(
    "/v1/volumes/:id",
    { schema: { params: idParams }, ...mutates("volumes.delete") },
    async ({ call, params }, reply) => {
      requireReachable(call, getVolume(world, call.account, params.id).zone);
      deleteVolume(world, call.account, params.id);
      return reply.code(204).send();
    },
  );
};
