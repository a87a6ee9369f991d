import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { UsageError } from "../check/usage-error.ts";
import { Caller } from "../contract/caller.ts";
import { cleanUp } from "../contract/clean-up.ts";
import type { LedgerEntry } from "../contract/ledger.ts";
import { Connection } from "../wire/connection.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { readLedger } from "./ledger-file.ts";

/** The list of a file that the user names. Throws a UsageError where there is none. */
export const namedLedger = (
  words: readonly string[],
): { readonly path: string; readonly entries: readonly LedgerEntry[] } => {
  const [path, ...others] = words;
  if (path === undefined || others.length > 0)
    throw new UsageError("clean up after which run? Give the one ledger.jsonl that it left, in its --report folder");
  const entries = readLedger(path);
  if (entries === undefined) throw new UsageError(`there is no ${path}: a run that leaves nothing leaves no list`);
  return { path, entries };
};

/** Removes what a list tells of, through the provider that made it. Answers what is left, and why. */
export const cleanUpAfter = async (
  entries: readonly LedgerEntry[],
  endpoint: Endpoint,
  { scopeId }: GetProviderInfoResponse,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const foreign = entries
    .flatMap((entry) => ("context" in entry ? [entry.context.scopeId] : []))
    .find((id) => id !== scopeId);
  if (foreign !== undefined)
    throw new UsageError(`the run was in scope "${foreign}", and this provider is in "${scopeId}"`);
  const connection = new Connection(endpoint);
  try {
    return await cleanUp(new Caller({ connection }), entries, signal);
  } finally {
    connection.close();
  }
};
