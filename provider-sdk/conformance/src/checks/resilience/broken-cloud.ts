import { setTimeout as wait } from "node:timers/promises";
import type { MethodName } from "@cloudwire/proto/methods";
import type { CheckContext } from "../../suite/check.ts";
import { fail } from "../../suite/expect.ts";
import type { HookName, HookVariables } from "../../suite/hooks.ts";
import type { Called, CallOptions } from "../../endpoint/caller.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";

/** What every check of a broken cloud has: it changes what all others see. */
export const disruptive = { level: "D", profile: "resilience", exclusive: true, timeoutMs: 240_000 } as const;

/** How long a fault may take to be felt, and to be over: connections and tokens live on for a while. */
const feltMs = 60_000;
const pollMs = 250;

/** A look at the provider: what it came to, and whether that is what is waited for. */
export interface Look<Value> {
  readonly done: boolean;
  readonly value: Value;
}

/** Looks until it is done, and answers the last look; undone when time is up. */
export const lookUntil = async <Value>(
  context: CheckContext,
  look: () => Promise<Look<Value>>,
  patienceMs: number = feltMs,
): Promise<Look<Value>> => {
  const endMs = performance.now() + patienceMs * context.slowFactor;
  for (;;) {
    const seen = await look();
    if (seen.done || performance.now() >= endMs) return seen;
    await wait(pollMs, undefined, { signal: context.signal });
  }
};

/** Reads that need the cloud, best first: those that fail as a whole say most. */
const reads = [
  { method: "ListRoutes", capability: "routes" },
  { method: "ListInstances", capability: "instances.list" },
  { method: "ListLoadBalancers", capability: "load_balancers.list" },
  { method: "GetLoadBalancer", capability: "load_balancers" },
  { method: "BatchGetVolumes", capability: "volumes" },
  { method: "BatchGetInstances", capability: "instances" },
] as const satisfies readonly { readonly method: MethodName; readonly capability: string }[];

/** Calls a method that cannot be answered without the cloud. */
export const askCloud = (context: CheckContext, options: CallOptions = {}): Promise<Called<unknown>> => {
  const { method } =
    reads.find(({ capability }) => isClaimed(context.info.capabilities, capability)) ??
    fail({ message: "nothing is claimed that needs the cloud" });
  const { instance } = context.fixtures;
  const request =
    method === "BatchGetInstances" && instance !== undefined
      ? {
          context: context.callContext,
          nodes: [{ name: instance.nodeName, providerId: instance.providerId }],
          maxDataAge: {},
        }
      : sampleRequest(method, context);
  return context.caller.call(methodsByName[method], request, options);
};

/** Waits until the provider feels a fault: a read that needs the cloud does not succeed. */
export const untilFelt = async (context: CheckContext, hook: HookName): Promise<Called<unknown>> => {
  const { done, value } = await lookUntil(context, async () => {
    const called = await askCloud(context);
    return { done: called.kind !== "ok", value: called };
  });
  if (!done)
    fail({
      message: `the provider's reads succeed though hooks.${hook} was carried out`,
      expected: `an error within ${feltMs / 1_000} s; if the hook works, the provider answers from old data`,
      got: "OK",
      exchange: value.exchange,
    });
  return value;
};

/** Waits until reads succeed again. */
export const untilWell = async (context: CheckContext): Promise<void> => {
  const { done, value } = await lookUntil(context, async () => {
    const called = await askCloud(context);
    return { done: called.kind === "ok", value: called };
  });
  if (!done)
    fail({
      message: `the provider does not recover within ${feltMs / 1_000} s of the end of the fault`,
      expected: "OK",
      got: value.exchange.response,
      exchange: value.exchange,
    });
};

/** Sets a fault, lets it be looked at, and waits until it is over. */
export const during = async <Value>(
  context: CheckContext,
  hook: HookName,
  use: () => Promise<Value>,
  variables: HookVariables = {},
): Promise<Value> => {
  await context.hooks.set(hook, variables);
  const value = await use();
  await context.hooks.undo(hook);
  await untilWell(context);
  return value;
};

/** The provider's status, which is always answered. */
export const statusOf = async ({ caller, callContext }: CheckContext) => {
  const called = await caller.call(methods.getProviderStatus, { context: callContext });
  if (called.kind === "ok") return { status: called.response, exchange: called.exchange };
  return fail({
    message: "the status is an error while the cloud is broken",
    expected: "OK with ready=false",
    got: called.exchange.response,
    exchange: called.exchange,
  });
};
