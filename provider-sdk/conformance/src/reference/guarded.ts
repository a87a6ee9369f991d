import type { LoadBalancerHandlers, RouteHandlers, VolumeHandlers } from "@cloudwire/provider-sdk";

interface CallScope {
  readonly signal: AbortSignal;
}

/** What every call passes on its way to the cloud; rejects where the cloud is broken. */
export type Guard = (callScope: CallScope, isCreation?: boolean) => Promise<void>;

const call =
  <Wanted, Context extends CallScope, Answer>(
    guard: Guard,
    method: (wanted: Wanted, context: Context) => Promise<Answer> | Answer,
    isCreation = false,
  ): ((wanted: Wanted, context: Context) => Promise<Answer>) =>
  async (wanted, context) => {
    await guard(context, isCreation);
    return method(wanted, context);
  };

const walk = <Context extends CallScope, Item>(
  guard: Guard,
  list: (context: Context) => AsyncIterable<Item>,
): ((context: Context) => AsyncGenerator<Item>) =>
  async function* (context) {
    await guard(context);
    yield* list(context);
  };

/** Load balancers of a cloud that can be broken. */
export const guardedBalancers = (handlers: LoadBalancerHandlers, guard: Guard): LoadBalancerHandlers => {
  const { get, ensure, delete: remove, updateNodes, list } = handlers;
  if (get === undefined) throw new TypeError("the reference provider reads single load balancers");
  return {
    ...handlers,
    get: call(guard, get),
    ensure: call(guard, ensure, true),
    delete: call(guard, remove),
    updateNodes: updateNodes && call(guard, updateNodes),
    list: list && walk(guard, list),
  };
};

/** Routes of a cloud that can be broken. */
export const guardedRoutes = (handlers: RouteHandlers, guard: Guard): RouteHandlers => {
  const { list, ensure, delete: remove } = handlers;
  if (ensure === undefined || remove === undefined) throw new TypeError("the reference provider makes single routes");
  return {
    features: handlers.features,
    list: walk(guard, list),
    ensure: call(guard, ensure),
    delete: call(guard, remove),
  };
};

/** Volumes of a cloud that can be broken. */
export const guardedVolumes = (handlers: VolumeHandlers, guard: Guard): VolumeHandlers => {
  if (handlers.getMany === undefined) throw new TypeError("the reference provider reads many volumes");
  return { ...handlers, getMany: call(guard, handlers.getMany) };
};
