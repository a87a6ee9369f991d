import { setTimeout as wait } from "node:timers/promises";
import { methods } from "../../contract/methods.ts";
import { bareError, isCall, type Mutant } from "../mutant.ts";
import type { Intercept, ProxiedReply } from "../mutant-proxy.ts";
import { made } from "./load-balancers.ts";

const batch = methods.batchGetInstances;
const ensure = methods.ensureLoadBalancer;
const level = "M";

/** All calls one after the other; what was asked for is answered late. */
const oneAfterTheOther = (): Intercept => {
  let last: Promise<unknown> = Promise.resolve();
  return (request, next) => {
    const answer = after(last, isCall(request, ensure.name) ? 4_000 : 0, () => next(request));
    last = answer.catch(() => undefined);
    return answer;
  };
};

const after = async <Value>(before: Promise<unknown>, ms: number, work: () => Promise<Value>): Promise<Value> => {
  await before;
  await wait(ms);
  return work();
};

let cancelled = 0;

/** The answer before, whatever was asked. */
let before: ProxiedReply | undefined;

/** Faults of what calls do to each other. */
export const concurrencyMutants: readonly Mutant[] = [
  {
    name: "shared-buffer",
    fault: "batches side by side get each other's results",
    fails: ["conc.batch"],
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["conc.batch"],
    intercept: async (request, next) => {
      if (!isCall(request, batch.name)) return next(request);
      const reply = await next(request);
      const other = before ?? reply;
      before = reply;
      return request.open > 1 ? other : reply;
    },
  },
  {
    name: "low-limit",
    fault: "fewer calls are served at once than the handshake says",
    fails: ["conc.limit"],
    intercept: async (request, next) =>
      isCall(request, batch.name) && request.open > 20 ? bareError(8, "too many calls") : next(request),
  },
  {
    name: "global-lock",
    fault: "one call at a time is served",
    fails: ["conc.ensure.many"],
    level,
    // Every check would wait for seconds for each Ensure.
    only: ["conc.ensure.many"],
    intercept: oneAfterTheOther(),
  },
  {
    name: "one-for-all",
    fault: "all Services get the load balancer of the first",
    fails: ["conc.ensure.others"],
    level,
    // Each check that sees it waits until its time is up.
    only: ["conc.ensure.others"],
    intercept: made((balancer) => ({ ...balancer, id: "lb-1" })),
  },
  {
    name: "second-deletion-fails",
    fault: "of two deletions side by side one fails",
    fails: ["conc.delete.same"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["conc.delete.same"],
    intercept: async (request, next) =>
      isCall(request, methods.deleteLoadBalancer.name) && request.open > 1 ? bareError(13, "conflict") : next(request),
  },
  {
    name: "create-after-cancel",
    fault: "what a cancelled Ensure made is not found again",
    fails: ["time.cancel.adopts"],
    level,
    // Each check that sees it waits until its time is up.
    only: ["time.cancel.adopts"],
    intercept: made((balancer) => ({ ...balancer, id: `${balancer.id}-${cancelled++}` })),
  },
];
