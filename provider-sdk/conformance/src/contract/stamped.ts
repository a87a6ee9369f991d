import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Called, Caller } from "./caller.ts";
import { isClaimed } from "./capabilities.ts";
import { outcomeLine } from "./exchange.ts";
import { clustersOf, type LedgerEntry } from "./ledger.ts";
import { methods } from "./methods.ts";

/** What the cloud shows with a run's stamp, and what could not be looked at. */
export interface Stamped {
  readonly entries: readonly LedgerEntry[];
  readonly problems: readonly string[];
}

/** Everything at the cloud that bears the stamp of one of a run's clusters: whoever lists those of a cluster is shown no others. */
export const stampedBy = async (caller: Caller, info: GetProviderInfoResponse, runId: string): Promise<Stamped> => {
  const entries: LedgerEntry[] = [];
  const problems: string[] = [];
  for (const id of clustersOf(runId)) {
    const context = CallContext.fromPartial({ cluster: { id, name: "conformance" }, scopeId: info.scopeId });
    const note = (what: string, why: string | undefined): void => {
      if (why !== undefined) problems.push(`${what} of cluster ${id} cannot be listed: ${why}`);
    };
    if (isClaimed(info.capabilities, "load_balancers.list"))
      note("load balancers", await balancersOf(caller, context, entries));
    else if (isClaimed(info.capabilities, "load_balancers"))
      note("load balancers", "the provider does not claim to; only the run's ledger tells of them");
    if (isClaimed(info.capabilities, "routes")) note("routes", await routesOf(caller, context, entries));
  }
  return { entries, problems };
};

/** Walks all pages; answers why it could not. */
const walk = async <Response extends { readonly nextPageToken: string }>(
  ask: (pageToken: string) => Promise<Called<Response>>,
  take: (response: Response) => void,
): Promise<string | undefined> => {
  let pageToken = "";
  do {
    const called = await ask(pageToken);
    if (called.kind !== "ok") return outcomeLine(called);
    take(called.response);
    pageToken = called.response.nextPageToken;
  } while (pageToken !== "");
  return undefined;
};

const balancersOf = (caller: Caller, context: CallContext, entries: LedgerEntry[]): Promise<string | undefined> =>
  walk(
    (pageToken) => caller.call(methods.listLoadBalancers, { context, pageSize: 0, pageToken }),
    ({ loadBalancers }) => {
      for (const { service } of loadBalancers)
        if (service !== undefined) entries.push({ kind: "loadBalancer", context, service });
    },
  );

const routesOf = (caller: Caller, context: CallContext, entries: LedgerEntry[]): Promise<string | undefined> =>
  walk(
    (pageToken) => caller.call(methods.listRoutes, { context, pageSize: 0, pageToken }),
    ({ routes }) => {
      for (const route of routes) entries.push({ kind: "route", context, route });
    },
  );
