import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Called, Caller } from "./caller.ts";
import { durationMs } from "./duration.ts";
import { outcomeLine } from "./exchange.ts";
import type { HookEntry, LedgerEntry } from "./ledger.ts";
import { methods } from "./methods.ts";

/** What is left of an entry after a try, and when to try again; undefined: nothing. */
interface Left {
  readonly why: string;
  readonly againMs: number;
}

const againMs = 1_000;

/** Removes everything in the list, the last first. Answers what is left when the signal says that it is enough, and why. */
export const cleanUp = async (
  /** One whose connection stands. */
  callerNow: () => Caller,
  entries: readonly LedgerEntry[],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const left: string[] = [];
  for (const entry of entries.filter(isObject).toReversed()) {
    const why = await remove(callerNow, entry, signal);
    if (why !== undefined) left.push(`${nameOf(entry)}: ${why}`);
  }
  return left;
};

/** Something that is removed through the provider. */
type ObjectEntry = Exclude<LedgerEntry, HookEntry>;
const isObject = (entry: LedgerEntry): entry is ObjectEntry => entry.kind !== "hook";

const nameOf = (entry: ObjectEntry): string =>
  entry.kind === "route"
    ? `route ${entry.route.destinationCidr} of cluster ${entry.context.cluster?.id ?? ""}`
    : `load balancer of Service ${entry.service.uid} of cluster ${entry.context.cluster?.id ?? ""}`;

/** Deletes until it is done; why it is not when time is up. */
const remove = async (
  callerNow: () => Caller,
  entry: ObjectEntry,
  signal: AbortSignal,
): Promise<string | undefined> => {
  for (;;) {
    const caller = callerNow();
    const left = await (entry.kind === "route" ? removeRoute(caller, entry) : removeBalancer(caller, entry));
    if (left === undefined) return undefined;
    await wait(left.againMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return left.why;
  }
};

const change = () => ({ requestId: randomUUID(), trigger: "conformance cleanup" });

const failed = (called: Called<unknown>): Left => ({ why: outcomeLine(called), againMs });

const removeBalancer = async (
  caller: Caller,
  { context, service }: Extract<LedgerEntry, { readonly kind: "loadBalancer" }>,
): Promise<Left | undefined> => {
  const called = await caller.call(methods.deleteLoadBalancer, { context, change: change(), service });
  if (called.kind !== "ok") return failed(called);
  const { done, operation, remaining } = called.response;
  if (done) return undefined;
  return { why: `still there: ${remaining.join(", ")}`, againMs: durationMs(operation?.pollAfter) ?? againMs };
};

const removeRoute = async (
  caller: Caller,
  { context, route }: Extract<LedgerEntry, { readonly kind: "route" }>,
): Promise<Left | undefined> => {
  const called = await caller.call(methods.batchDeleteRoutes, { context, change: change(), routes: [route] });
  if (called.kind !== "ok") return failed(called);
  const outcome = called.response.results[0]?.outcome;
  switch (outcome?.$case) {
    case "route":
      return undefined;
    case "operation":
      return { why: "still there", againMs: durationMs(outcome.value.pollAfter) ?? againMs };
    case "error":
      // Never made, because somebody else has the range.
      if (outcome.value.reason === "OWNED_BY_ANOTHER_CLUSTER") return undefined;
      return { why: `${outcome.value.reason}: ${outcome.value.message}`, againMs };
    case undefined:
      return { why: "the answer says nothing", againMs };
  }
  return outcome satisfies never;
};
