import type { CheckContext } from "./check.ts";

/** Work whose result several checks look at: done once a run, by the first that asks. */
export const oncePerRun = <Value>(
  make: (context: CheckContext) => Promise<Value>,
): ((context: CheckContext) => Promise<Value>) => {
  const made = new WeakMap<object, Promise<Value>>();
  return (context) => {
    const value = made.get(context.run) ?? make(context);
    made.set(context.run, value);
    return value;
  };
};
