import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { isClaimed } from "../contract/capabilities.ts";
import { methods } from "../contract/methods.ts";
import type { Caller } from "../endpoint/caller.ts";
import { outcomeLine } from "../endpoint/exchange.ts";
import { type CreatedResource, clustersOf } from "./created-resources.ts";

/** What has a run's ownership tag in the cloud, and what could not be listed. */
export interface TaggedResources {
  readonly entries: readonly CreatedResource[];
  readonly problems: readonly string[];
}

/** Everything in the cloud with the ownership tag of one of a run's clusters: a list for a cluster has no others. */
export const taggedBy = async (
  caller: Caller,
  info: GetProviderInfoResponse,
  runId: string,
): Promise<TaggedResources> => {
  const entries: CreatedResource[] = [];
  const problems: string[] = [];
  for (const id of clustersOf(runId)) {
    const context = CallContext.fromPartial({ cluster: { id, name: "conformance" }, scopeId: info.scopeId });
    const note = (what: string, why: string | undefined): void => {
      if (why !== undefined) problems.push(`${what} of cluster ${id} cannot be listed: ${why}`);
    };
    if (isClaimed(info.capabilities, "load_balancers.list"))
      note("load balancers", await balancersOf(caller, context, entries));
    else if (isClaimed(info.capabilities, "load_balancers"))
      note("load balancers", "the provider does not claim to; only the run's list has them");
    if (isClaimed(info.capabilities, "routes")) {
      const listed = await routesIn(caller, context);
      if (listed.kind === "known")
        entries.push(...listed.routes.map((route) => ({ kind: "route", context, route }) as const));
      else note("routes", listed.why);
    }
  }
  return { entries, problems };
};

/** Walks all pages; answers why it could not. */
const balancersOf = async (
  caller: Caller,
  context: CallContext,
  entries: CreatedResource[],
): Promise<string | undefined> => {
  let pageToken = "";
  do {
    const called = await caller.call(methods.listLoadBalancers, { context, pageSize: 0, pageToken });
    if (called.kind !== "ok") return outcomeLine(called);
    for (const { service } of called.response.loadBalancers)
      if (service !== undefined) entries.push({ kind: "loadBalancer", context, service, annotations: {} });
    pageToken = called.response.nextPageToken;
  } while (pageToken !== "");
  return undefined;
};

/** The routes of a cluster, or why they are unknown. */
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
