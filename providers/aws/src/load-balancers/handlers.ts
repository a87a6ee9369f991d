import { absent, type CallContext, type LoadBalancer, type LoadBalancerHandlers } from "@cloudwire/provider-sdk";
import type { AwsCalls } from "../cloud/aws.ts";
import { clusterIdTag, fromAwsTags, serviceUidTag } from "../cloud/ownership.ts";
import type { MachineReader } from "../instances/machine-reader.ts";
import { domain } from "./annotations.ts";
import { deleteLoadBalancer } from "./delete.ts";
import { ensureLoadBalancer, readSeen, updateNodes } from "./ensure.ts";
import { findBalancer } from "./find.ts";
import { BalancerReader } from "./reader.ts";
import type { LoadBalancerSettings, Tools } from "./tools.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";

/** Listeners of one network load balancer; AWS raises it on request. */
const maxPorts = 50;

export function loadBalancerHandlers(
  aws: AwsCalls,
  machines: MachineReader,
  settings: LoadBalancerSettings,
): LoadBalancerHandlers {
  const tools: Tools = { aws, machines, settings, reader: new BalancerReader(aws) };
  return {
    features: {
      protocols: ["TCP", "UDP"],
      mixedProtocols: true,
      ipFamilies: ["IPv4", "IPv6"],
      dualStack: true,
      sourceRanges: true,
      externalTrafficPolicyLocal: true,
      deletionProtection: true,
      classes: [`${domain}/nlb`],
      maxPorts,
      adopt: true,
      validateOnly: true,
      list: { maxPageSize: 500 },
    },
    ensure: async (wanted, context) => ensureLoadBalancer(tools, wanted, context),
    updateNodes: async (wanted, context) => updateNodes(tools, wanted, context),
    delete: async (ref, context) => deleteLoadBalancer(tools, ref, context),
    get: async (ref, context) => {
      const { own, observeTime } = await findBalancer(tools, ref, context);
      if (!own) return absent("COMPLETE_LIST_MISS", { observeTime });
      const seen = await readSeen(tools, own, ref, context);
      const [group] = seen.groups;
      const registeredNodes = group ? (await tools.reader.targets(group.arn, context)).length : 0;
      return toLoadBalancer({ ...seen, registeredNodes });
    },
    list: (context) => listLoadBalancers(tools, context),
  };
}

/** The cluster's own load balancers. Reads the target groups of all in one request. */
async function* listLoadBalancers({ reader }: Tools, context: CallContext): AsyncGenerator<LoadBalancer> {
  const { id } = context.cluster;
  const [groups, securityGroups] = await Promise.all([
    reader.groups(undefined, context),
    reader.ownedSecurityGroups(id, undefined, context),
  ]);
  for await (const balancers of reader.balancers(context)) {
    for (const balancer of balancers.filter(({ tags }) => tags[clusterIdTag] === id)) {
      const uid = balancer.tags[serviceUidTag];
      yield toLoadBalancer({
        balancer,
        groups: groups.filter(({ details }) => (details.LoadBalancerArns ?? []).includes(balancer.arn)),
        securityGroups: securityGroups.filter(({ Tags }) => fromAwsTags(Tags)[serviceUidTag] === uid),
      });
    }
  }
}
