import type { ChangeContext, LoadBalancerRef } from "@cloudwire/provider-sdk";
import { clusterIdTag, serviceUidTag } from "../../cloud/ownership.ts";
import { groupPrefix } from "../names.ts";
import type { SeenBalancer, SeenGroup } from "../reader.ts";
import type { Tools } from "../tools.ts";

/** Finds target groups by name, also if no listener forwards to them, and only with the ownership tags. */
export async function ownGroups(
  { reader }: Pick<Tools, "reader">,
  ref: Pick<LoadBalancerRef, "key" | "cluster" | "service">,
  own: SeenBalancer | undefined,
  context: ChangeContext,
): Promise<readonly SeenGroup[]> {
  const all = await reader.groups(undefined, context);
  const forwardedTo = all.filter(({ details }) => own && (details.LoadBalancerArns ?? []).includes(own.arn));
  const named = all.filter(({ name }) => name.startsWith(groupPrefix(ref.key)));
  const tags = await reader.tags(
    named.map(({ arn }) => arn),
    context,
  );
  const owned = named.filter(({ arn }) => {
    const found = tags.get(arn) ?? {};
    return found[clusterIdTag] === ref.cluster.id && found[serviceUidTag] === ref.service.uid;
  });
  return [...new Set([...owned, ...forwardedTo])];
}
