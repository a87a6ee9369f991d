import type { LoadBalancerHandlers, RouteHandlers, VolumeHandlers } from "@cloudwire/provider-sdk";

interface CallScope {
  readonly signal: AbortSignal;
}

/** What every call passes on its way to the cloud; rejects where the cloud is broken. */
export type Gate = (callScope: CallScope, isCreation?: boolean) => Promise<void>;

const call =
  <Wanted, Context extends CallScope, Answer>(
    gate: Gate,
    method: (wanted: Wanted, context: Context) => Promise<Answer> | Answer,
    isCreation = false,
  ): ((wanted: Wanted, context: Context) => Promise<Answer>) =>
  async (wanted, context) => {
    await gate(context, isCreation);
    return method(wanted, context);
  };

const walk = <Context extends CallScope, Item>(
  gate: Gate,
  list: (context: Context) => AsyncIterable<Item>,
): ((context: Context) => AsyncGenerator<Item>) =>
  async function* (context) {
    await gate(context);
    yield* list(context);
  };

/** Load balancers of a cloud that can be broken. */
export const guardedBalancers = (handlers: LoadBalancerHandlers, gate: Gate): LoadBalancerHandlers => {
  const { get, ensure, delete: remove, updateNodes, list } = handlers;
  if (get === undefined) throw new TypeError("the reference provider reads single load balancers");
  return {
    ...handlers,
    get: call(gate, get),
    ensure: call(gate, ensure, true),
    delete: call(gate, remove),
    updateNodes: updateNodes && call(gate, updateNodes),
    list: list && walk(gate, list),
  };
};

/** Routes of a cloud that can be broken. */
export const guardedRoutes = (handlers: RouteHandlers, gate: Gate): RouteHandlers => {
  const { list, ensure, delete: remove } = handlers;
  if (ensure === undefined || remove === undefined) throw new TypeError("the reference provider makes single routes");
  return {
    features: handlers.features,
    list: walk(gate, list),
    ensure: call(gate, ensure),
    delete: call(gate, remove),
  };
};

/** Volumes of a cloud that can be broken. */
export const guardedVolumes = (handlers: VolumeHandlers, gate: Gate): VolumeHandlers => {
  if (handlers.getMany === undefined) throw new TypeError("the reference provider reads many volumes");
  return { ...handlers, getMany: call(gate, handlers.getMany) };
};
