import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { Instance as WireInstance } from "@cloudwire/proto/cloudprovider/v1/instance";
import { toWireAbsence } from "../convert/common.ts";
import { toWireInstance } from "../convert/objects.ts";
import type { CallContext } from "../../definition/call-context.ts";
import type { Instance, InstanceEvent, InstanceHandlers } from "../../definition/instances.ts";
import type { RpcMethod } from "../rpc/method.ts";
import { checkBatch, checkPage, checkWatch } from "../validation/requests.ts";
import { toWireResult } from "./results.ts";
import { InstanceBatch } from "./instances.ts";
import { PagedList } from "./lists.ts";
import type { MethodBinder } from "../method-binder.ts";
import { knownScope, type ProviderRuntime } from "../runtime.ts";
import { serveWatch } from "./watches.ts";

const { methods } = CloudProviderDefinition;

/** The RPCs about machines, as far as the provider has the methods. */
export const instanceMethods = (runtime: ProviderRuntime, binder: MethodBinder): readonly RpcMethod[] => {
  const handlers = runtime.definition.instances;
  const claimed = runtime.capabilities.instances;
  if (!handlers || !claimed) return [];
  const batch = new InstanceBatch(runtime, handlers);
  return [
    binder.read(
      methods.batchGetInstances,
      (request) => checkBatch("nodes", request.nodes, claimed.maxBatchSize),
      (request, call) => batch.get(request, call),
    ),
    ...(handlers.list && claimed.list ? [listInstances(runtime, binder, handlers.list, claimed.list)] : []),
    ...(handlers.watch ? [watchInstances(runtime, binder, handlers.watch)] : []),
  ];
};

const listInstances = (
  runtime: ProviderRuntime,
  binder: MethodBinder,
  list: NonNullable<InstanceHandlers["list"]>,
  claimed: { readonly maxPageSize: number },
): RpcMethod => {
  const pages = new PagedList<Instance, WireInstance>({
    runtime,
    name: "ListInstances",
    maxPageSize: claimed.maxPageSize,
    list,
    contextOf: (context: CallContext) => context,
    convert: (instance) => toWireResult(runtime.rules, "Instance", () => toWireInstance(instance, runtime.ids)),
    sizeOf: (instance) => WireInstance.encode(instance).finish().length,
  });
  return binder.read(methods.listInstances, checkPage, async (request, call) => {
    const { items, ...page } = await pages.page(request, call);
    return { ...page, instances: items, scopeId: knownScope(runtime) };
  });
};

const watchInstances = (
  runtime: ProviderRuntime,
  binder: MethodBinder,
  watch: NonNullable<InstanceHandlers["watch"]>,
): RpcMethod =>
  binder.stream(methods.watchInstances, checkWatch, (request, call) =>
    serveWatch(
      {
        runtime,
        watch,
        convert: (event: Extract<InstanceEvent, { readonly kind: "upsert" | "gone" }>, callTime) =>
          event.kind === "upsert"
            ? { $case: event.kind, value: toWireInstance(event.instance, runtime.ids) }
            : {
                $case: event.kind,
                value: {
                  providerId: runtime.ids.complete(event.id),
                  absence: toWireAbsence(event.absence, callTime),
                },
              },
      },
      request,
      call,
    ),
  );
