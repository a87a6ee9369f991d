import {
  type LoadBalancer as WireLoadBalancer,
  LoadBalancerPhase,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { toWireOperation, toWireRemaining } from "../convert/common.ts";
import type { Progress } from "../../definition/call-context.ts";
import { type Pending, pending } from "../../results/results.ts";
import type { LongOperation, LongOperationState } from "../../state/long-changes.ts";

/** The response for work that outlived its call. */
export const pendingWork = ({ id: operationId, startTime }: LongOperation, { id, ...progress }: Progress): Pending =>
  // An object needs an id before the cloud has given it one.
  pending(id ?? operationId, { stage: defaultStage, ...progress, operationId, startTime });

const defaultStage = "the provider is still at work";

/** Longest list of remaining resources. Contract: DeleteLoadBalancerResponse.remaining. */
const maxRemaining = 64;

/** What a deletion's answer says of its end. */
export const deletion = (answer: Pending | undefined) => ({
  done: answer === undefined,
  operation: answer && toWireOperation(answer),
  remaining: (answer?.remaining ?? []).slice(0, maxRemaining).map(toWireRemaining),
});

/** Never equal to a fingerprint: those are hashes. */
const notInForce = "not in force";

/**
 * A load balancer as it was read, during a change or after a failed one: callers must not take it for the desired state,
 * even if the provider stores no fingerprints.
 */
export const withLongWork = (
  loadBalancer: WireLoadBalancer,
  work: LongOperationState | undefined,
): WireLoadBalancer => {
  if (work === undefined || loadBalancer.operation) return loadBalancer;
  if (work.kind === "failed") return { ...loadBalancer, specFingerprint: notInForce };
  const { id: operationId, startTime } = work.operation;
  const { phase } = loadBalancer;
  return {
    ...loadBalancer,
    phase: phaseAtWork(phase),
    operation: toWireOperation({ operationId, startTime, stage: defaultStage }),
  };
};

const phaseAtWork = (phase: LoadBalancerPhase): LoadBalancerPhase => {
  if (phase === LoadBalancerPhase.ACTIVE) return LoadBalancerPhase.UPDATING;
  return phase === LoadBalancerPhase.FAILED ? LoadBalancerPhase.PROVISIONING : phase;
};
