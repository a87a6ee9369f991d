import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { CallContext, LoadBalancerRef, ProviderError } from "@cloudwire/provider-sdk";
import { fromAwsTags, problemOfTags } from "../cloud/ownership.ts";
import type { SeenBalancer } from "./reader.ts";
import type { Tools } from "./tools.ts";

/** Tag of a Service's security group with the name of an adopted load balancer. */
export const adoptedTag = "cloudwire.dev/adopted";

/** What AWS has for a Service. */
export interface FoundBalancer {
  readonly own: SeenBalancer | undefined;
  /** Why the name cannot be taken. */
  readonly problem: ProviderError | undefined;
  /** All of the region. */
  readonly all: readonly LoadBalancer[];
  readonly observeTime: Date;
}

/** One complete list of the region's load balancers; if none has the name, the Service's security group names an adopted one. */
export async function findBalancer(
  { reader }: Pick<Tools, "reader">,
  ref: Pick<LoadBalancerRef, "key" | "cluster" | "service">,
  context: CallContext,
): Promise<FoundBalancer> {
  const observeTime = new Date();
  const all = await reader.allBalancers(context);
  const [named] = await reader.tagged(
    all.filter(({ LoadBalancerName }) => LoadBalancerName === ref.key),
    context,
  );
  const problem = named && problemOf(named, ref);
  if (named && problem === undefined) return { own: named, problem, all, observeTime };
  const groups = await reader.ownedSecurityGroups(ref.cluster.id, ref.service.uid, context);
  const arns = groups.flatMap(({ Tags }) => fromAwsTags(Tags)[adoptedTag] ?? []);
  const adopted = await reader.tagged(
    all.filter(({ LoadBalancerArn }) => LoadBalancerArn !== undefined && arns.includes(LoadBalancerArn)),
    context,
  );
  return { own: adopted.find((balancer) => problemOf(balancer, ref) === undefined), problem, all, observeTime };
}

function problemOf({ arn, name, tags }: SeenBalancer, ref: Pick<LoadBalancerRef, "cluster" | "service">) {
  return problemOfTags({ what: "load balancer", id: arn, name, tags }, ref);
}
