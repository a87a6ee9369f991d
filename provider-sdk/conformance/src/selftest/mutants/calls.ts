import { setTimeout as wait } from "node:timers/promises";
import { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { RouteResult } from "@cloudwire/proto/cloudprovider/v1/route";
import { BadRequest } from "@cloudwire/proto/google/rpc/error_details";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import type { Intercept, ProxiedReply } from "../mutant-proxy.ts";
import {
  type Mutant,
  alterResponse,
  alterError,
  bareError,
  suppressErrors,
  replaceResponse,
  isCall,
  requestOf,
} from "../mutant.ts";
import { made, refused } from "./load-balancers.ts";

const batch = methods.batchGetInstances;

/** A number that the contract's enum does not have. */
const isUnknown = (type: number): boolean => type === 9_999;

/** Faults of how clients of other releases are served. */
export const compatibilityMutants: readonly Mutant[] = [
  {
    name: "renumbered",
    fault: "a field has another number than in the released contract",
    fails: [
      "compat.golden",
      "compat.v1-0-client",
      "conc.batch",
      "inst.absent.foreign",
      "inst.absent.malformed",
      "inst.get.id-wins",
      "inst.identity.own",
      "inst.state.stopped",
      "val.fields.batch-get-instances",
    ],
    intercept: async (request, next) => {
      const asked = requestOf(request, batch);
      if (asked === undefined) return next(request);
      const altered = { ...asked, nodes: asked.nodes.map((node) => ({ ...node, providerId: "" })) };
      return next({ ...request, body: frame(batch.requestType.encode(altered).finish()) });
    },
  },
  {
    name: "wants-optional",
    fault: "an optional field is wanted",
    fails: ["compat.v1-0-client"],
    intercept: async (request, next) =>
      requestOf(request, methods.deleteLoadBalancer)?.change?.trigger === ""
        ? bareError(3, "trigger is required")
        : next(request),
  },
  {
    name: "zero-enum-throws",
    fault: "a choice that is left open is refused",
    fails: ["compat.unspecified", "lb.ensure.dual-stack"],
    intercept: refused(
      ({ spec }) => spec?.externalTrafficPolicy === ExternalTrafficPolicy.UNSPECIFIED && spec.ipFamilies.length > 0,
    ),
  },
  {
    name: "enum-crash",
    fault: "an address of an unknown kind is the end of the call",
    fails: ["val.enum.fact"],
    intercept: async (request, next) =>
      requestOf(request, batch)?.nodes.some(({ addresses }) => addresses.some(({ type }) => isUnknown(type))) === true
        ? bareError(13, "unexpected enum")
        : next(request),
  },
  {
    name: "first-field-only",
    fault: "of the fields that are wrong one is named",
    fails: ["err.field.all"],
    intercept: alterError((parts) => ({
      ...parts,
      details: parts.details.map((detail) => {
        if (!detail.typeUrl.endsWith(".BadRequest")) return detail;
        const { fieldViolations } = BadRequest.decode(detail.value);
        const value = Buffer.from(BadRequest.encode({ fieldViolations: fieldViolations.slice(0, 1) }).finish());
        return { ...detail, value };
      }),
    })),
  },
];

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

const gone: RouteResult = {
  outcome: {
    $case: "error",
    value: ItemError.fromPartial({ code: 5, reason: "ROUTE_TARGET_NOT_FOUND", message: "no such route" }),
  },
};

/** Checks of load balancers that ask how one is. */
const askers = `
  adopt delete.gone delete.mid-create delete.protected delete.stale ensure.echo ensure.refused ensure.stale
  ensure.tags ensure.zero-nodes get.absent get.equals get.hints list.one nodes.count nodes.ensure nodes.remove
  nodes.stale nodes.unchanged-mismatch nodes.unknown-node nodes.update observed.stable recreate validate.delete validate.no-effect
  validate.nodes watch.initial.equals-get
`
  .trim()
  .split(/\s+/);

/** Faults of what is said of things that were never made. */
export const neverCreatedMutants: readonly Mutant[] = [
  {
    name: "get-says-nothing",
    fault: "a load balancer that was never made is neither there nor absent",
    fails: [
      ...askers.map((id) => `lb.${id}`),
      "conc.delete.same",
      "conc.ensure-delete",
      "conc.ensure.many",
      "nset.unknown-ref",
      "time.cancel.adopts",
    ],
    intercept: replaceResponse("GetLoadBalancer", () => Buffer.alloc(0)),
  },
  {
    name: "delete-never-ends",
    fault: "the deletion of nothing is never done",
    fails: ["lb.delete.hints", "lb.delete.never"],
    // Each check that sees it waits until its time is up.
    only: ["lb.*.*", "route.delete.absent"],
    intercept: alterResponse(methods.deleteLoadBalancer, (answer) => ({ ...answer, done: false })),
  },
  {
    name: "nodes-of-nothing",
    fault: "nodes of a load balancer that was never made are taken",
    fails: ["lb.nodes.hints", "lb.nodes.missing-lb"],
    intercept: suppressErrors("UpdateLoadBalancerNodes", ({ reason }) => reason === "LOAD_BALANCER_NOT_FOUND"),
  },
  {
    name: "route-delete-404",
    fault: "the deletion of a route that is not there fails",
    fails: ["route.delete", "route.delete.absent", "route.delete.by-range", "route.delete.foreign"],
    intercept: alterResponse(methods.batchDeleteRoutes, (answer) => ({
      ...answer,
      results: answer.results.map(() => gone),
    })),
  },
];
