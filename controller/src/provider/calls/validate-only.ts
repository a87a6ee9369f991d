import type { PlannedWrite } from "../../observe/plans.ts";
import type { Work } from "../../observe/work.ts";
import type { WriteFilter } from "../../observe/write-filter.ts";
import { isRecord } from "../../util/json.ts";
import { RPCS, type Rpc, type RpcCaller } from "../convert/methods.ts";
import type { ChangeOptions, ProviderClient } from "../model/client.ts";
import type { Capabilities } from "../model/info.ts";
import type { Operation, PlannedChange } from "../model/load-balancer.ts";
import type { Route, RouteChanges, RouteOutcome } from "../model/route.ts";

export interface ValidateOnlyDependencies {
  /** The operator's name. */
  readonly provider: string;
  readonly filter: WriteFilter;
  /** Of the last handshake. */
  readonly capabilities: () => Capabilities | undefined;
}

type MethodName = Rpc<unknown, unknown>["name"];

/** How soon it is looked again whether a route that is only planned is there. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Reads as ever. A change of what is observed is sent as a question what it would do (`validate_only`), where the provider can answer
 * that: nothing to do is an answer like any other, all else is noted and not done. Node sets change nothing at a cloud.
 */
export function validateOnlyClient(client: ProviderClient, deps: ValidateOnlyDependencies): ProviderClient {
  const questions = new Questions(deps);
  return {
    ...client,
    ensureLoadBalancer: (input, options) => {
      const call = (asked: ChangeOptions) => client.ensureLoadBalancer(input, asked);
      return questions.change("EnsureLoadBalancer", options, call, isThere);
    },
    updateLoadBalancerNodes: (input, options) => {
      const call = (asked: ChangeOptions) => client.updateLoadBalancerNodes(input, asked);
      return questions.change("UpdateLoadBalancerNodes", options, call, isThere);
    },
    deleteLoadBalancer: (ref, options) => {
      const call = (asked: ChangeOptions) => client.deleteLoadBalancer(ref, asked);
      return questions.change("DeleteLoadBalancer", options, call, ({ done }) => done);
    },
    ensureRoutes: (routes, options) =>
      questions.routes("BatchEnsureRoutes", options, routes, (asked) => client.ensureRoutes(routes, asked)),
    deleteRoutes: (routes, options) =>
      questions.routes("BatchDeleteRoutes", options, routes, (asked) => client.deleteRoutes(routes, asked)),
  };
}

function isThere({ loadBalancer }: { readonly loadBalancer: unknown }): boolean {
  return loadBalancer !== undefined;
}

/** Makes calls, or asks what they would do. */
class Questions {
  readonly #deps: ValidateOnlyDependencies;

  constructor(deps: ValidateOnlyDependencies) {
    this.#deps = deps;
  }

  /** Of one load balancer. While observed it answers only when the call would change nothing, which `isNothing` has to bear out. */
  async change<Answer extends { readonly plannedChanges: readonly PlannedChange[] }>(
    rpc: MethodName,
    options: ChangeOptions,
    call: (options: ChangeOptions) => Promise<Answer>,
    isNothing: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const work = this.#planner(rpc);
    if (work === undefined) return call(options);
    const answer = this.#canTell("loadBalancers") ? await call(question(options)) : undefined;
    if (answer !== undefined && answer.plannedChanges.length === 0 && isNothing(answer)) return answer;
    work.note(this.#planned(rpc, options, answer?.plannedChanges.map(shown)));
    return work.stop();
  }

  /** Nobody must believe that planned routes are there, or gone: they are on their way. */
  async routes(
    rpc: MethodName,
    options: ChangeOptions,
    routes: readonly Route[],
    call: (options: ChangeOptions) => Promise<RouteChanges>,
  ): Promise<RouteChanges> {
    const work = this.#planner(rpc);
    if (work === undefined) return call(options);
    const answer = this.#canTell("routes") ? await call(question(options)) : undefined;
    if (answer !== undefined && answer.plannedChanges.length === 0) return answer;
    const outcomes = routes.map((route, item): RouteOutcome => {
      const told = answer?.outcomes[item];
      if (told?.kind === "failed") return told;
      work.note(this.#planned(rpc, options, answer && [routeChange(rpc, route)]), item);
      return { kind: "pending", operation: PLANNED };
    });
    return { outcomes, quota: answer?.quota, plannedChanges: answer?.plannedChanges ?? [] };
  }

  #planner(rpc: MethodName): Work | undefined {
    const { filter, provider } = this.#deps;
    return filter.planner(`${rpc} of provider ${provider}`, provider);
  }

  #canTell(group: "loadBalancers" | "routes"): boolean {
    return this.#deps.capabilities()?.[group]?.validateOnly ?? false;
  }

  /** @param changes undefined: the provider cannot tell */
  #planned(method: MethodName, { trigger = "" }: ChangeOptions, changes: readonly string[] | undefined): PlannedWrite {
    const { provider } = this.#deps;
    return { target: "provider", provider, method, trigger, changes: changes ?? [], isChecked: changes !== undefined };
  }
}

const PLANNED: Operation = {
  id: "",
  stage: "planned",
  progressPercent: undefined,
  pollAfterMs: LOOK_AGAIN_MS,
  message: "it is only planned (--mode)",
};

/** With an id of its own: providers answer a repeated id as they answered before. */
function question(options: ChangeOptions): ChangeOptions {
  const { requestId: _, ...rest } = options;
  return { ...rest, validateOnly: true };
}

function shown({ action, resourceType, resourceId, summary }: PlannedChange): string {
  const what = [action, resourceType, resourceId].filter((word) => word !== "").join(" ");
  return summary === "" ? what : `${what}: ${summary}`;
}

function routeChange(rpc: MethodName, { destinationCidr, targetNodeName }: Route): string {
  return `${rpc === "BatchDeleteRoutes" ? "delete" : "create"} route ${destinationCidr} to ${targetNodeName}`;
}

/** The last word on the wire of a process that observes only: no change leaves it but as a question what it would do. */
export function validateOnlyCaller(caller: RpcCaller): RpcCaller {
  return {
    unary: (rpc, request, options) => {
      if (mayChangeCloud(rpc) && !isQuestion(request)) {
        return Promise.reject(new TypeError(`${rpc.name} was not sent: this process only observes (--mode)`));
      }
      return caller.unary(rpc, request, options);
    },
  };
}

/** Node sets are the provider's memory, not its cloud. */
function mayChangeCloud({ isChange, name }: Pick<Rpc<unknown, unknown>, "isChange" | "name">): boolean {
  return isChange && name !== RPCS.applyNodeSet.name;
}

function isQuestion(request: unknown): boolean {
  return isRecord(request) && isRecord(request["change"]) && request["change"]["validateOnly"] === true;
}
