import type { LoadBalancerIngress } from "../../../api/service.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import type { Present } from "../record/record.ts";
import type { Change } from "./types.ts";

/** What the answer to a change, or a later read of it, means. */
export type Progress =
  | { readonly kind: "done"; readonly present: Present }
  | { readonly kind: "pending"; readonly present: Present }
  | { readonly kind: "failed"; readonly message: string };

/** Polled so often when a provider says that a load balancer is not ready and not when to ask again. */
const DEFAULT_POLL_MS = 5000;

/** How far a change is, by the load balancer that its answer shows. */
export function progressOf(
  change: Pick<Change, "service" | "provider" | "wish" | "purpose">,
  loadBalancer: LoadBalancer,
): Progress {
  const { service, provider, wish, purpose } = change;
  if (loadBalancer.phase === "failed") return { kind: "failed", message: failureOf(loadBalancer) };
  const present: Present = {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: wish.spec,
    specFingerprint: wish.specFingerprint,
    nodesFingerprint: wish.nodes.fingerprint,
    observedFingerprint: loadBalancer.observedFingerprint,
    lockKey: loadBalancer.lockKey,
    ingress: servedIngress(loadBalancer),
    operation: undefined,
  };
  if (!isUnfinished(loadBalancer)) return { kind: "done", present };
  const { id = "", pollAfterMs = DEFAULT_POLL_MS } = loadBalancer.operation ?? {};
  return { kind: "pending", present: { ...present, operation: { id, purpose, pollAfterMs } } };
}

function isUnfinished({ phase, operation }: LoadBalancer): boolean {
  return operation !== undefined || phase !== "active";
}

/** An address is published only while something answers there. */
function servedIngress({ phase, ingress }: LoadBalancer): readonly LoadBalancerIngress[] | undefined {
  return phase === "active" || phase === "updating" ? ingress : undefined;
}

function failureOf({ id, conditions }: LoadBalancer): string {
  const why = conditions
    .filter(({ status }) => status !== "True")
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "));
  return `the provider says that load balancer ${id} has failed${why.length === 0 ? "" : `: ${why.join("; ")}`}`;
}
