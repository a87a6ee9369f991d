import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { LoadBalancer as WireLoadBalancer } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { fromWireCluster, toWireAbsence } from "../convert/common.ts";
import { loadBalancerRef, toWireLoadBalancer, toWireService } from "../convert/load-balancer.ts";
import type { CallContext } from "../../definition/call-context.ts";
import type { LoadBalancer, LoadBalancerEvent, LoadBalancerHandlers } from "../../definition/load-balancers.ts";
import type { RpcMethod } from "../rpc/method.ts";
import { checkPage, checkWatch } from "../validation/requests.ts";
import { checkEnsure, checkNodeSetChunk, checkNodes } from "../validation/load-balancer.ts";
import { toWireResult } from "./results.ts";
import { PagedList } from "./lists.ts";
import { LoadBalancerChanges } from "./load-balancer-changes.ts";
import { withLongWork } from "./long-work.ts";
import { LoadBalancerService } from "./load-balancers.ts";
import type { MethodBinder } from "../method-binder.ts";
import { NodeResolver } from "./nodes.ts";
import { knownScope, type ProviderRuntime } from "../runtime.ts";
import { serveWatch } from "./watches.ts";

const { methods } = CloudProviderDefinition;

const none = () => [];

/** The RPCs about load balancers, as far as the provider has the methods. */
export const loadBalancerMethods = (runtime: ProviderRuntime, binder: MethodBinder): readonly RpcMethod[] => {
  const handlers = runtime.definition.loadBalancers;
  const claimed = runtime.capabilities.loadBalancers;
  if (!handlers || !claimed) return [];
  const { ids, limits, nowMs } = runtime;
  const nodes = new NodeResolver({ ids, limits, maxSets: claimed.nodeSets?.maxSets ?? 0, nowMs });
  const mayOutlive = (handlers.features?.lockScope ?? "service") === "service";
  const changes = new LoadBalancerChanges({ runtime, mayOutlive });
  const service = new LoadBalancerService({ runtime, handlers, nodes, changes });
  const { validateOnly } = claimed;
  return [
    binder.read(methods.getLoadBalancer, none, (request, call) => service.get(request, call)),
    binder.change(
      methods.ensureLoadBalancer,
      { validateOnly, checks: (request) => checkEnsure(request, claimed, runtime.definition.annotations ?? []) },
      (request, call) => service.ensure(request, call),
    ),
    binder.change(methods.deleteLoadBalancer, { validateOnly, checks: none }, (request, call) =>
      service.delete(request, call),
    ),
    ...(handlers.updateNodes
      ? [
          binder.change(
            methods.updateLoadBalancerNodes,
            { validateOnly, checks: (request) => checkNodes(request.nodes) },
            (request, call) => service.updateNodes(request, call),
          ),
        ]
      : []),
    ...(claimed.nodeSets
      ? [
          binder.read(
            methods.applyNodeSet,
            (request) => checkNodeSetChunk(request, claimed),
            async (request) => nodes.apply(request),
          ),
        ]
      : []),
    ...(handlers.list && claimed.list
      ? [listLoadBalancers({ runtime, binder, changes, list: handlers.list, ...claimed.list })]
      : []),
    ...(handlers.watch ? [watchLoadBalancers(runtime, binder, handlers.watch)] : []),
  ];
};

const listLoadBalancers = (options: {
  readonly runtime: ProviderRuntime;
  readonly binder: MethodBinder;
  readonly changes: LoadBalancerChanges;
  readonly list: NonNullable<LoadBalancerHandlers["list"]>;
  readonly maxPageSize: number;
}): RpcMethod => {
  const { runtime, binder, changes, list, maxPageSize } = options;
  const pages = new PagedList<LoadBalancer, WireLoadBalancer>({
    runtime,
    name: "ListLoadBalancers",
    maxPageSize,
    list,
    contextOf: (context: CallContext) => context,
    convert: (loadBalancer) => toWireResult(runtime.rules, "LoadBalancer", () => toWireLoadBalancer(loadBalancer, {})),
    sizeOf: (loadBalancer) => WireLoadBalancer.encode(loadBalancer).finish().length,
  });
  return binder.read(methods.listLoadBalancers, checkPage, async (request, call) => {
    const { items, ...page } = await pages.page(request, call);
    const cluster = fromWireCluster(request.context?.cluster);
    // As in GetLoadBalancer: the spec of an unfinished change is not in force.
    const loadBalancers = items.map((item) =>
      withLongWork(item, changes.longOperation(loadBalancerRef(cluster, item.service).key)),
    );
    return { ...page, loadBalancers, scopeId: knownScope(runtime) };
  });
};

const watchLoadBalancers = (
  runtime: ProviderRuntime,
  binder: MethodBinder,
  watch: NonNullable<LoadBalancerHandlers["watch"]>,
): RpcMethod =>
  binder.stream(methods.watchLoadBalancers, checkWatch, (request, call) =>
    serveWatch(
      {
        runtime,
        watch,
        convert: (event: Extract<LoadBalancerEvent, { readonly kind: "upsert" | "gone" }>, callTime) =>
          event.kind === "upsert"
            ? { $case: event.kind, value: toWireLoadBalancer(event.loadBalancer, {}) }
            : {
                $case: event.kind,
                value: {
                  service: toWireService(event.service),
                  loadBalancerId: event.id ?? "",
                  absence: toWireAbsence(event.absence, callTime),
                },
              },
      },
      request,
      call,
    ),
  );
