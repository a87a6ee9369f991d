import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { type CheckContext, oncePerRun } from "../../suite/check.ts";
import type { Called } from "../../endpoint/caller.ts";
import { isClaimed, methodsWhere } from "../../contract/capabilities.ts";
import { isHarmless } from "../../contract/harmless.ts";
import { methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { type Violation, violations } from "../../contract/violations.ts";
import type { WireError } from "../../endpoint/status.ts";

/** A request that has to be refused, and what became of it. */
export interface Provoked {
  readonly method: MethodName;
  readonly violation: Violation;
  readonly called: Called<unknown>;
}

/** What a provider may be asked to check without doing. */
const validateOnly: Readonly<Partial<Record<MethodName, string>>> = {
  EnsureLoadBalancer: "load_balancers.validate_only",
  BatchEnsureRoutes: "routes.validate_only",
};

/** Claimed unary methods that can be called with a wrong request and without any effect. */
export const provocableMethods = (context: CheckContext): readonly MethodName[] =>
  methodsWhere(context.info.capabilities, true).filter(
    (name) => !methodRules[name].stream && isClaimed(context.info.capabilities, validateOnly[name] ?? ""),
  );

/** Class and annotations are hints there: a bad one never makes the call fail (LB-16). */
const withHints: ReadonlySet<MethodName> = new Set([
  "GetLoadBalancer",
  "UpdateLoadBalancerNodes",
  "DeleteLoadBalancer",
]);

/** All ways in which a request of a method breaks the rules of its fields. */
const violationsOf = (name: MethodName, context: CheckContext): readonly Violation[] =>
  violations(`cloudprovider.v1.${name}Request`, sampleRequest(name, context)).filter(({ path, request }) => {
    const isHint = withHints.has(name) && (path === "class" || path.startsWith("annotations"));
    return !isHint && isHarmless(name, request);
  });

/** Every violation of every method, sent once a run. */
export const provokeAll = oncePerRun(async (context: CheckContext): Promise<readonly Provoked[]> => {
  const wanted = provocableMethods(context).flatMap((method) =>
    // GetStatus succeeds for every caller and every request.
    method === "GetProviderStatus" ? [] : violationsOf(method, context).map((violation) => ({ method, violation })),
  );
  const out: Provoked[] = [];
  // A few at once: the provider's limit of calls is not what is tested here.
  const workers = Math.min(4, context.info.limits?.maxConcurrentCalls ?? 1);
  const queue = wanted.values();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const { method, violation } of queue) {
        const called = await context.caller.call(methodsByName[method], violation.request);
        out.push({ method, violation, called });
      }
    }),
  );
  return out;
});

/** The errors among them, as one line each begins: `BatchGetInstances with context left out`. */
export const provokedErrors = async (
  context: CheckContext,
): Promise<readonly { readonly what: string; readonly provoked: Provoked; readonly error: WireError }[]> =>
  (await provokeAll(context)).flatMap((provoked) => {
    const { called, method, violation } = provoked;
    return called.kind === "error"
      ? [{ what: `${method} with ${violation.path} ${violation.what}`, provoked, error: called.error }]
      : [];
  });
