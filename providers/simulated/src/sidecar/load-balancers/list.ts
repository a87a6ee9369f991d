import {
  type CallContext,
  type LoadBalancer as ProviderLoadBalancer,
  type ResumeFrom,
  resumeFrom,
  type Unreachable,
} from "@cloudwire/provider-sdk";
import type { CloudAccess } from "../cloud-access.ts";
import { clusterFilter } from "../ownership.ts";
import { readAll } from "../pages.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";

/** The cluster's own load balancers, from one snapshot. */
export async function* listLoadBalancers(
  cloud: CloudAccess,
  context: CallContext,
): AsyncGenerator<ProviderLoadBalancer | ResumeFrom | Unreachable> {
  const tag = [clusterFilter(context.cluster)];
  const pages = readAll(cloud, context, async (client, pageToken, signal) =>
    client.listLoadBalancers({ tag, pageToken, consistent: true }, signal),
  );
  let snapshot: string | undefined;
  for await (const page of pages) {
    snapshot ??= page.snapshot;
    for (const loadBalancer of page.items) yield toLoadBalancer(loadBalancer);
  }
  if (snapshot !== undefined) yield resumeFrom(snapshot);
}
