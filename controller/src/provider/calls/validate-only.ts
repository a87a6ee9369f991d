import type { PlannedWrite } from "../../observe/plans.ts";
import type { WriteFilter } from "../../observe/write-filter.ts";
import { isRecord } from "../../util/json.ts";
import { RPCS, type Rpc, type RpcCaller } from "../convert/methods.ts";
import type { ChangeOptions, ProviderClient } from "../model/client.ts";
import type { Capabilities } from "../model/info.ts";
import type { Operation, PlannedChange } from "../model/load-balancer.ts";
import type { Route, RouteChanges, RouteOutcome } from "../model/route.ts";
import { changeText } from "./check.ts";

export interface ValidateOnlyDependencies {
  readonly provider: string;
  readonly filter: WriteFilter;
  /** Of the last handshake. */
  readonly capabilities: () => Capabilities | undefined;
}

type MethodName = Rpc<unknown, unknown>["name"];

/** How soon a planned route is looked up again. */
const POLL_AFTER_MS = 30_000;

/**
 * In observe mode, sends changes as dry-run requests (`validate_only`) where the provider supports them, and notes the planned changes.
 * Reads and node sets, which change nothing in the cloud, are sent as usual.
 */
export function validateOnlyClient(client: ProviderClient, deps: ValidateOnlyDependencies): ProviderClient {
  const planner = new Planner(deps);
  return {
    ...client,
    ensureLoadBalancer: (input, options) => {
      const call = (own: ChangeOptions) => client.ensureLoadBalancer(input, own);
      return planner.change("EnsureLoadBalancer", options, call, exists);
    },
    updateLoadBalancerNodes: (input, options) => {
      const call = (own: ChangeOptions) => client.updateLoadBalancerNodes(input, own);
      return planner.change("UpdateLoadBalancerNodes", options, call, exists);
    },
    deleteLoadBalancer: (ref, options) => {
      const call = (own: ChangeOptions) => client.deleteLoadBalancer(ref, own);
      return planner.change("DeleteLoadBalancer", options, call, ({ done }) => done);
    },
    ensureRoutes: (routes, options) =>
      planner.routes("BatchEnsureRoutes", options, routes, (own) => client.ensureRoutes(routes, own)),
    deleteRoutes: (routes, options) =>
      planner.routes("BatchDeleteRoutes", options, routes, (own) => client.deleteRoutes(routes, own)),
  };
}

function exists({ loadBalancer }: { readonly loadBalancer: unknown }): boolean {
  return loadBalancer !== undefined;
}

class Planner {
  readonly #deps: ValidateOnlyDependencies;

  constructor(deps: ValidateOnlyDependencies) {
    this.#deps = deps;
  }

  /** A change of one load balancer. In observe mode it returns only when the call would change nothing. */
  async change<Result extends { readonly plannedChanges: readonly PlannedChange[] }>(
    method: MethodName,
    options: ChangeOptions,
    call: (options: ChangeOptions) => Promise<Result>,
    isDone: (result: Result) => boolean,
  ): Promise<Result> {
    const work = this.#work(method);
    if (work === undefined) return call(options);
    const result = this.#canValidate("loadBalancers") ? await call(dryRun(options)) : undefined;
    if (result !== undefined && result.plannedChanges.length === 0 && isDone(result)) return result;
    work.note(
      this.#planned(
        method,
        options,
        result?.plannedChanges.map((change) => changeText(change)),
      ),
    );
    return work.stop();
  }

  /** Planned routes are "pending": they neither exist nor are they deleted. */
  async routes(
    method: MethodName,
    options: ChangeOptions,
    routes: readonly Route[],
    call: (options: ChangeOptions) => Promise<RouteChanges>,
  ): Promise<RouteChanges> {
    const work = this.#work(method);
    if (work === undefined) return call(options);
    const result = this.#canValidate("routes") ? await call(dryRun(options)) : undefined;
    if (result !== undefined && result.plannedChanges.length === 0) return result;
    const outcomes = routes.map((route, item): RouteOutcome => {
      const reported = result?.outcomes[item];
      if (reported?.kind === "failed") return reported;
      work.note(this.#planned(method, options, result && [routeText(method, route)]), item);
      return { kind: "pending", operation: PLANNED };
    });
    return { outcomes, quota: result?.quota, plannedChanges: result?.plannedChanges ?? [] };
  }

  #work(method: MethodName) {
    const { filter, provider } = this.#deps;
    return filter.planner(`${method} of provider ${provider}`, provider);
  }

  #canValidate(group: "loadBalancers" | "routes"): boolean {
    return this.#deps.capabilities()?.[group]?.validateOnly ?? false;
  }

  /** @param changes undefined: the provider cannot validate */
  #planned(method: MethodName, { trigger = "" }: ChangeOptions, changes: readonly string[] | undefined): PlannedWrite {
    const { provider } = this.#deps;
    return { target: "provider", provider, method, trigger, changes: changes ?? [], isChecked: changes !== undefined };
  }
}

const PLANNED: Operation = {
  id: "",
  stage: "planned",
  progressPercent: undefined,
  pollAfterMs: POLL_AFTER_MS,
  message: "it is only planned (--mode)",
};

/** With a new request ID: providers repeat the response to a repeated ID. */
function dryRun(options: ChangeOptions): ChangeOptions {
  const { requestId: _, ...rest } = options;
  return { ...rest, validateOnly: true };
}

function routeText(method: MethodName, { destinationCidr, targetNodeName }: Route): string {
  return `${method === "BatchDeleteRoutes" ? "delete" : "create"} route ${destinationCidr} to ${targetNodeName}`;
}

/** Rejects all changes except dry-run requests and node sets, in case a caller bypasses {@link validateOnlyClient}. */
export function validateOnlyCaller(caller: RpcCaller): RpcCaller {
  return {
    unary: (rpc, request, options) => {
      const changesCloud = rpc.isChange && rpc.name !== RPCS.applyNodeSet.name;
      if (!changesCloud || isDryRun(request)) return caller.unary(rpc, request, options);
      return Promise.reject(new TypeError(`${rpc.name} was not sent: this process runs in observe mode (--mode)`));
    },
  };
}

function isDryRun(request: unknown): boolean {
  return isRecord(request) && isRecord(request["change"]) && request["change"]["validateOnly"] === true;
}
