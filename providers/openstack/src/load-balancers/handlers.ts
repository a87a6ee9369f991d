import { absent, type CallContext, type LoadBalancer, type LoadBalancerHandlers } from "@cloudwire/provider-sdk";
import type { OpenStack } from "../cloud/openstack.ts";
import { findBalancer, type Tools } from "./balancer.ts";
import { deleteLoadBalancer } from "./delete.ts";
import { ensureLoadBalancer, updateNodes } from "./ensure.ts";
import { FloatingIps } from "./floating-ips.ts";
import { OctaviaReader } from "./octavia.ts";
import { clusterTag } from "./ownership.ts";
import { readAllSeen, readSeen } from "./read.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";
import type { LoadBalancerSettings } from "./octavia-spec.ts";

export function loadBalancerHandlers(openStack: OpenStack, settings: LoadBalancerSettings): LoadBalancerHandlers {
  const floatingIps = new FloatingIps(openStack);
  const tools: Tools = { openStack, settings, floatingIps, reader: new OctaviaReader(openStack) };
  return {
    features: {
      protocols: ["TCP", "UDP"],
      mixedProtocols: true,
      ipFamilies: ["IPv4"],
      sourceRanges: true,
      requestedIp: true,
      sessionAffinity: true,
      externalTrafficPolicyLocal: true,
      classes: ["openstack.cloudwire.dev/octavia"],
      validateOnly: true,
    },
    ensure: async (wanted, context) => ensureLoadBalancer(tools, wanted, context),
    updateNodes: async (wanted, context) => updateNodes(tools, wanted, context),
    delete: async (ref, context) => deleteLoadBalancer(tools, ref, context),
    get: async (ref, context) => {
      const { own, observeTime } = await findBalancer(tools, ref, context);
      const [first] = own;
      return first ? toLoadBalancer(await readSeen(tools, first, context)) : absent("LOOKUP_MISS", { observeTime });
    },
    list: (context) => listLoadBalancers(tools, context),
  };
}

/** The cluster's own load balancers. */
async function* listLoadBalancers(tools: Tools, context: CallContext): AsyncGenerator<LoadBalancer> {
  const balancers = await tools.reader.balancers({ tags: clusterTag(context.cluster) }, context);
  for (const seen of await readAllSeen(tools, balancers, context)) yield toLoadBalancer(seen);
}
