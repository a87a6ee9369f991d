import { AsyncLocalStorage } from "node:async_hooks";
import type { BackgroundContext } from "../definition/call-context.ts";

/** Has no state of its own: what it holds belongs to each flow of calls. */
const flow = new AsyncLocalStorage<BackgroundContext>();

/**
 * The context of the running handler, at any depth of its asynchronous calls; undefined outside of handlers. For clients of the cloud
 * that are made once and take a `fetch`:
 *
 * ```ts
 * const acme = new AcmeClient({ fetch: (input, init) => (currentContext()?.fetch ?? fetch)(input, init) });
 * ```
 */
export const currentContext = (): BackgroundContext | undefined => flow.getStore();

/** Runs a handler so that {@link currentContext} answers its context. */
export const withinContext = <Result>(context: BackgroundContext, work: () => Result): Result =>
  flow.run(context, work);

/** The same for a handler that yields: a generator runs in the asynchronous context of the consumer of its next value. */
export const iterateWithin = <Item>(
  context: BackgroundContext,
  open: () => AsyncIterable<Item>,
): AsyncIterableIterator<Item> => {
  const iterator = withinContext(context, () => open()[Symbol.asyncIterator]());
  return {
    next: () => withinContext(context, () => iterator.next()),
    return: (value) =>
      withinContext(context, () => iterator.return?.(value) ?? Promise.resolve({ done: true as const, value })),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
