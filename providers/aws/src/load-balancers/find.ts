import type { CallContext, LoadBalancerRef, ProviderError } from "@cloudwire/provider-sdk";
import { ownershipProblem } from "../cloud/ownership.ts";
import { upstreamName } from "./names.ts";
import type { SeenBalancer } from "./reader.ts";
import type { Tools } from "./settings.ts";

/** What AWS has under the names that a Service's load balancer can have. */
export interface FoundBalancer {
  readonly own: SeenBalancer | undefined;
  /** Why the name cannot be taken. */
  readonly problem: ProviderError | undefined;
  /** What AWS' own controller has made for the Service, if it still is. */
  readonly upstream: SeenBalancer | undefined;
  readonly observeTime: Date;
}

/** One complete list of the region's load balancers, and the tags of those with the right names. */
export async function findBalancer(
  { reader }: Pick<Tools, "reader">,
  ref: Pick<LoadBalancerRef, "key" | "cluster" | "service">,
  context: CallContext,
): Promise<FoundBalancer> {
  const observeTime = new Date();
  const formerName = upstreamName(ref.service.uid);
  const found = await reader.balancersNamed([ref.key, formerName], context);
  const isOwn = (balancer: SeenBalancer): boolean => problemOf(balancer, ref) === undefined;
  const named = found.find(({ name }) => name === ref.key);
  const former = found.find(({ name }) => name === formerName);
  return {
    own: found.find(isOwn),
    problem: named && problemOf(named, ref),
    upstream: former && !isOwn(former) ? former : undefined,
    observeTime,
  };
}

function problemOf({ arn, name, tags }: SeenBalancer, ref: Pick<LoadBalancerRef, "cluster" | "service">) {
  return ownershipProblem({ what: `load balancer ${arn}`, name, tags }, ref);
}
