import { type MethodName, methodRules } from "@cloudwire/proto/methods";

/**
 * Changes that do nothing in a cluster that the cloud has never seen, even where a provider has every fault: there is nothing to delete and
 * nothing whose targets could change, and a node set lives in the provider's memory.
 */
const harmless = new Set<string>([
  "DeleteLoadBalancer",
  "UpdateLoadBalancerNodes",
  "BatchDeleteRoutes",
  "ApplyNodeSet",
] satisfies readonly MethodName[]);

/** Whether a call can create nothing in the cloud: levels S and R may send no other. */
export const isHarmless = (method: string, request: unknown): boolean => {
  let name: MethodName;
  for (name in methodRules)
    if (name === method) return !methodRules[name].change || harmless.has(name) || asksOnly(request);
  return true;
};

const asksOnly = (request: unknown): boolean => {
  const change: unknown = property(request, "change");
  return property(change, "validateOnly") === true;
};

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
