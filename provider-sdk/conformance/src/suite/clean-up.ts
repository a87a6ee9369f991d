import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { BatchDeleteRoutesResponse } from "@cloudwire/proto/cloudprovider/v1/route";
import { durationMs, pauseMs } from "../contract/duration.ts";
import { methods } from "../contract/methods.ts";
import { type Called, Caller } from "../endpoint/caller.ts";
import { type Connection, SteadyConnection } from "../endpoint/connection.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { outcomeLine } from "../endpoint/exchange.ts";
import { codeName } from "../endpoint/status.ts";
import { UsageError } from "../errors.ts";
import type { BalancerEntry, HookEntry, CreatedResource } from "./created-resources.ts";
import { routesIn, taggedBy } from "./tagged-resources.ts";

/** What is left of an entry after a try, and when to try again; undefined: nothing. */
interface Left {
  readonly why: string;
  readonly againMs: number;
}

/** An entry that is not known to be gone. */
interface Open {
  readonly entry: ObjectEntry;
  readonly left: Left;
}

const againMs = 1_000;

/**
 * Removes everything in the list, the last first, round by round: what cannot be removed keeps nothing else from it. Answers what is left when the
 * signal says that it is enough, and why; a call that is under way then ends.
 */
export const cleanUp = async (
  /** One that stands. */
  connectionNow: () => Connection,
  entries: readonly CreatedResource[],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const untried: Left = { why: "it was not tried, for time was up", againMs: 0 };
  let open: readonly Open[] = entries
    .filter(isObject)
    .toReversed()
    .map((entry) => ({ entry, left: untried }));
  for (;;) {
    const still: Open[] = [];
    for (const one of open) still.push(...(await tried(one, connectionNow, signal)));
    open = still;
    if (open.length === 0 || signal.aborted) return open.map(({ entry, left }) => `${nameOf(entry)}: ${left.why}`);
    await wait(Math.min(...open.map(({ left }) => left.againMs)), undefined, { signal }).catch(() => undefined);
  }
};

/** What is still open after one more try, if there is time for one. */
const tried = async (
  { entry, left: before }: Open,
  connectionNow: () => Connection,
  signal: AbortSignal,
): Promise<readonly Open[]> => {
  if (signal.aborted) return [{ entry, left: before }];
  const caller = new Caller({ connection: connectionNow(), signal });
  const left = await (entry.kind === "route" ? removeRoute(caller, entry) : removeBalancer(caller, entry));
  return left === undefined ? [] : [{ entry, left }];
};

/** Something that is removed through the provider. */
type ObjectEntry = Exclude<CreatedResource, HookEntry>;
const isObject = (entry: CreatedResource): entry is ObjectEntry => entry.kind !== "hook";

const nameOf = (entry: ObjectEntry): string =>
  entry.kind === "route"
    ? `route ${entry.route.destinationCidr} of cluster ${entry.context.cluster?.id ?? ""}`
    : `load balancer of Service ${entry.service.uid} of cluster ${entry.context.cluster?.id ?? ""}`;

const change = () => ({ requestId: randomUUID(), trigger: "conformance cleanup" });

const failed = (called: Called<unknown>): Left => ({ why: outcomeLine(called), againMs });

const removeBalancer = async (
  caller: Caller,
  { context, service, class: name, annotations }: BalancerEntry,
): Promise<Left | undefined> => {
  const called = await caller.call(methods.deleteLoadBalancer, {
    context,
    change: change(),
    service,
    ...(name !== undefined && { class: name }),
    annotations: { ...annotations },
  });
  if (called.kind !== "ok") return failed(called);
  const { done, operation, remaining } = called.response;
  if (done) return undefined;
  return { why: `still there: ${remaining.join(", ")}`, againMs: pauseMs(durationMs(operation?.pollAfter), againMs) };
};

const removeRoute = async (
  caller: Caller,
  { context, route: made }: Extract<CreatedResource, { readonly kind: "route" }>,
): Promise<Left | undefined> => {
  // The contract asks for routes as they are listed: some providers find theirs by the id alone.
  const listed = await routesIn(caller, context);
  const all = listed.kind === "known" ? listed.routes : undefined;
  const known = all?.find(({ destinationCidr }) => destinationCidr === made.destinationCidr);
  const routes = [known ?? made];
  const called = await caller.call(methods.batchDeleteRoutes, { context, change: change(), routes });
  return leftOfRoute(called, all !== undefined && known === undefined);
};

const leftOfRoute = (called: Called<BatchDeleteRoutesResponse>, isUnlisted: boolean): Left | undefined => {
  // A range of a kind that the provider does not route was never made.
  if (called.kind === "error" && codeName(called.error.code) === "INVALID_ARGUMENT" && isUnlisted) return undefined;
  if (called.kind !== "ok") return failed(called);
  const outcome = called.response.results[0]?.outcome;
  switch (outcome?.$case) {
    case "route":
      return undefined;
    case "operation":
      return { why: "still there", againMs: pauseMs(durationMs(outcome.value.pollAfter), againMs) };
    case "error":
      // Never created, because another owner has the CIDR; and some providers refuse to delete a missing route.
      if (outcome.value.reason === "OWNED_BY_ANOTHER_CLUSTER" || isUnlisted) return undefined;
      return { why: `${outcome.value.reason}: ${outcome.value.message}`, againMs };
    case undefined:
      return { why: "the answer says nothing", againMs };
  }
  return outcome satisfies never;
};

/** What came of a cleanup. */
export interface Cleaned {
  readonly removed: number;
  /** What is left, and why. */
  readonly left: readonly string[];
}

/** Removes what a run has created, through the provider that created it: what is in its list, and what has its ownership tag in the cloud. */
export const cleanUpAfter = async (
  { entries, runId }: { readonly entries: readonly CreatedResource[]; readonly runId: string | undefined },
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
    const tagged = await taggedBy(new Caller({ connection: connection.now(), signal }), info, runId);
    const ofTags = await cleanUp(() => connection.now(), tagged.entries, signal);
    // A provider that cannot list is no problem if the run's list is complete.
    const problems = entries.length > 0 ? [] : tagged.problems;
    return { removed: entries.length + tagged.entries.length, left: [...ofList, ...ofTags, ...problems] };
  } finally {
    connection.close();
  }
};
