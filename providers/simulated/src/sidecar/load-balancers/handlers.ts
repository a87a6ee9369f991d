import { absent, type LoadBalancerHandlers } from "@cloudwire/provider-sdk";
import type { CloudAccess } from "../cloud-access.ts";
import { classes, ipModes } from "./annotations.ts";
import { deleteLoadBalancer } from "./delete.ts";
import { ensureLoadBalancer } from "./ensure.ts";
import { findOwn, operationOf } from "./find.ts";
import { listLoadBalancers } from "./list.ts";
import { OwnLookUps } from "./own-look-ups.ts";
import { TargetReader } from "./targets.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";
import { updateNodes } from "./update-nodes.ts";
import { watchLoadBalancers } from "./watch.ts";

/** How long the cloud's change feed reaches back. */
const feedRetentionMs = 900_000;

/**
 * The cloud takes any number of calls; beyond this they would only stand in its line instead of the controller's. The
 * SDK serves 64 RPCs at once, and reads need some of them.
 */
const mostConcurrentChanges = 50;

/**
 * Changes under way for each call that the cloud serves at once: many of them wait for a look-up that they share, and the
 * cloud is to be busy meanwhile. 160 new Services, 10 calls at once of 250 ms: 9.9 s with 1, 6.9 with 3, 6.2 with 4.
 */
const changesPerCall = 4;

export function loadBalancerHandlers(
  cloud: CloudAccess,
  maxConcurrentCalls = mostConcurrentChanges,
): LoadBalancerHandlers {
  const targets = new TargetReader();
  const lookUps = new OwnLookUps(cloud);
  return {
    features: {
      protocols: ["TCP"],
      ipFamilies: ["IPv4"],
      sourceRanges: true,
      requestedIp: true,
      sessionAffinity: true,
      externalTrafficPolicyLocal: true,
      deletionProtection: true,
      ipModes,
      classes,
      maxPorts: 100,
      maxNodes: 20_000,
      needsNodePorts: true,
      maxConcurrentChanges: Math.max(
        maxConcurrentCalls,
        Math.min(maxConcurrentCalls * changesPerCall, mostConcurrentChanges),
      ),
      lockScope: "service",
      adopt: true,
      validateOnly: true,
      list: { maxPageSize: 500, consistentSnapshot: true },
      watch: { tokenRetentionMs: feedRetentionMs, expectedLatencyMs: 100 },
    },
    ensure: async (wanted, context) =>
      ensureLoadBalancer(cloud, lookUps, wanted, targets.read(wanted, context), context),
    updateNodes: async (wanted, context) => updateNodes(cloud, wanted, targets.read(wanted, context), context),
    delete: async (ref, context) => deleteLoadBalancer(cloud, ref, context),
    get: async (ref, context) => {
      const { loadBalancer, observeTime } = await findOwn(cloud, ref, context);
      if (!loadBalancer) return absent("COMPLETE_LIST_MISS", { observeTime, stronglyConsistent: true });
      return toLoadBalancer(loadBalancer, await operationOf(cloud, loadBalancer, context));
    },
    list: (context) => listLoadBalancers(cloud, context),
    watch: (request, context) => watchLoadBalancers(cloud, request, context),
  };
}
