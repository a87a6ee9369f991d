import type { Caller } from "../endpoint/caller.ts";
import type { CheckContext } from "./check.ts";

/** Work whose result several checks look at: done once a run, by the first that asks. */
export const oncePerRun = <Value>(
  make: (context: CheckContext) => Promise<Value>,
): ((context: CheckContext) => Promise<Value>) => {
  const made = new WeakMap<object, { readonly value: Promise<Value>; readonly caller: Caller }>();
  return (context) => {
    const { caller } = context;
    const before = made.get(context.run);
    if (before !== undefined) {
      caller.borrow(before.caller);
      return before.value;
    }
    const value = make(context);
    made.set(context.run, { value, caller });
    return value;
  };
};
