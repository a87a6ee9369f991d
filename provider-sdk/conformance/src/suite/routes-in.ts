import type { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import type { Caller } from "../endpoint/caller.ts";
import { outcomeLine } from "../endpoint/exchange.ts";
import { methods } from "../contract/methods.ts";

/** The routes of a cluster, or why nobody knows them. */
export type RoutesIn =
  | { readonly kind: "known"; readonly routes: readonly Route[] }
  | { readonly kind: "unknown"; readonly why: string };

/** Lists all routes of a cluster. */
export const routesIn = async (caller: Caller, context: CallContext): Promise<RoutesIn> => {
  const routes: Route[] = [];
  let pageToken = "";
  do {
    const called = await caller.call(methods.listRoutes, { context, pageSize: 0, pageToken });
    if (called.kind !== "ok") return { kind: "unknown", why: outcomeLine(called) };
    routes.push(...called.response.routes);
    pageToken = called.response.nextPageToken;
  } while (pageToken !== "");
  return { kind: "known", routes };
};
