import { absent, type CallContext, type LoadBalancerEvent, type WatchRequest } from "@cloudwire/provider-sdk";
import type { Event } from "../../api/events.ts";
import { LoadBalancer } from "../../api/load-balancers.ts";
import { feedStart, followFeed } from "../change-feed.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { clusterIdTag } from "../ownership.ts";
import { listLoadBalancers } from "./list.ts";
import { serviceOf, toLoadBalancer } from "./to-load-balancer.ts";

/** The cloud's change feed as hints about the cluster's own load balancers. */
export async function* watchLoadBalancers(
  cloud: CloudAccess,
  request: WatchRequest,
  context: CallContext,
): AsyncGenerator<LoadBalancerEvent> {
  let from = request.resumeToken;
  if (request.sendInitialEvents) {
    for await (const item of listLoadBalancers(cloud, context)) {
      if (item.kind === "resumeFrom") from = item.token;
      else if (item.kind !== "unreachable") yield { kind: "upsert", loadBalancer: item };
    }
    yield { kind: "bookmark", initialEventsEnd: true, ...(from === undefined ? {} : { token: from }) };
  }
  from ??= await feedStart(cloud, context);
  for await (const { events, token } of followFeed(cloud, context, "loadBalancer", from)) {
    for (const event of events) {
      const { resource } = event;
      if (!cloud.checks.isOf(LoadBalancer, resource)) continue;
      if (resource.tags[clusterIdTag] === context.cluster.id) yield toEvent(event, resource);
    }
    yield { kind: "bookmark", token };
  }
}

function toEvent({ type, token, time }: Event, loadBalancer: LoadBalancer): LoadBalancerEvent {
  if (type !== "deleted") return { kind: "upsert", loadBalancer: toLoadBalancer(loadBalancer), token };
  const absence = absent("TERMINATED", { observeTime: new Date(time), stronglyConsistent: true });
  return { kind: "gone", service: serviceOf(loadBalancer), id: loadBalancer.id, absence, token };
}
