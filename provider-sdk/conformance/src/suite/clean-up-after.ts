import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { UsageError } from "../errors.ts";
import { Caller } from "../endpoint/caller.ts";
import { cleanUp } from "./clean-up.ts";
import type { LedgerEntry } from "./created-resources.ts";
import { stampedBy } from "./tagged-resources.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { SteadyConnection } from "../endpoint/steady-connection.ts";

/** What came of a cleanup. */
export interface Cleaned {
  readonly removed: number;
  /** What is left, and why. */
  readonly left: readonly string[];
}

/** Removes what a run has made, through the provider that made it: what its list tells of, and what bears its stamp at the cloud. */
export const cleanUpAfter = async (
  { entries, runId }: { readonly entries: readonly LedgerEntry[]; readonly runId: string | undefined },
  endpoint: Endpoint,
  info: GetProviderInfoResponse,
  signal: AbortSignal,
): Promise<Cleaned> => {
  const foreign = entries
    .flatMap((entry) => ("context" in entry ? [entry.context.scopeId] : []))
    .find((id) => id !== info.scopeId);
  if (foreign !== undefined)
    throw new UsageError(`the run was in scope "${foreign}", and this provider is in "${info.scopeId}"`);
  const connection = new SteadyConnection(endpoint);
  try {
    const ofList = await cleanUp(() => connection.now(), entries, signal);
    if (runId === undefined) return { removed: entries.length, left: ofList };
    const stamped = await stampedBy(new Caller({ connection: connection.now(), signal }), info, runId);
    const ofStamp = await cleanUp(() => connection.now(), stamped.entries, signal);
    // A provider that cannot list is no obstacle where the list tells all.
    const problems = entries.length > 0 ? [] : stamped.problems;
    return { removed: entries.length + stamped.entries.length, left: [...ofList, ...ofStamp, ...problems] };
  } finally {
    connection.close();
  }
};
