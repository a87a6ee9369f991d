import { CreateRoutes, DeleteRoutes, RouteListQuery, type RoutePage, type RouteResults } from "../../api/routes.ts";
import { CloudError } from "../errors.ts";
import { routeKind } from "../world/kinds.ts";
import { createRoute, deleteRoute, routeQuota, withState } from "../world/routes.ts";
import type { World } from "../world/world.ts";
import { mutates, reads } from "./call.ts";
import { toFilter } from "./params.ts";
import { readPage } from "./reading.ts";
import type { HttpServer } from "./server.ts";

export const addRoutePaths = (server: HttpServer, world: World): void => {
  server.get(
    "/v1/routes",
    { schema: { querystring: RouteListQuery }, ...reads("routes.list") },
    ({ call, query }): RoutePage => {
      const filter = toFilter(query);
      // The destination is what the store calls the name of a route.
      const names = query.destination ?? filter.names;
      const page = readPage(world, call, { ...query, kind: routeKind, filter: { ...filter, names } });
      const snapshot = Number(page.snapshot);
      const items = page.items.map((route) => withState(world, call.account, route, snapshot));
      return { ...page, items, quota: routeQuota(world, call.account) };
    },
  );
  server.post(
    "/v1/routes",
    { schema: { body: CreateRoutes }, ...mutates("routes.create") },
    ({ call, body, id }): RouteResults => {
      const results = body.items.map((spec) => attempt(id, () => createRoute(world, call.account, spec)));
      return { results, quota: routeQuota(world, call.account) };
    },
  );
  server.post(
    "/v1/routes/delete",
    { schema: { body: DeleteRoutes }, ...mutates("routes.delete") },
    ({ call, body, id }): RouteResults => {
      const results = body.ids.map((routeId) => attempt(id, () => deleteRoute(world, call.account, routeId)));
      return { results, quota: routeQuota(world, call.account) };
    },
  );
};

type RouteResult = RouteResults["results"][number];

/** One item's refusal does not stop the others. */
const attempt = (requestId: string, change: () => NonNullable<RouteResult["route"]>): RouteResult => {
  try {
    return { route: change() };
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return { error: { code: error.code, message: error.message, requestId } };
  }
};
