import { type CallContext, type LoadBalancerRef, ProviderError } from "@cloudwire/provider-sdk";
import type { LoadBalancer, Operation } from "../../api/load-balancers.ts";
import type { ListOptions } from "../../client/cloud-client.ts";
import type { CloudAccess, CallScope } from "../cloud-access.ts";
import { clusterFilter, problemOfTags, serviceUidTag } from "../ownership.ts";
import { collect } from "../pages.ts";
import { refusalCode } from "../errors.ts";

/** What the cloud was found to have for a Service. */
export interface FoundLoadBalancer {
  /** Undefined: nothing, and the cloud is sure of it. */
  readonly loadBalancer: LoadBalancer | undefined;
  readonly observeTime: Date;
}

/**
 * The load balancer of a Service, by its ownership tags, because an adopted one has another name. One strongly consistent call.
 * @throws ProviderError if the cloud's answer proves nothing
 */
export async function findOwn(
  cloud: CloudAccess,
  ref: Pick<LoadBalancerRef, "key" | "cluster" | "service">,
  context: CallContext,
): Promise<FoundLoadBalancer> {
  const observeTime = new Date();
  const all = await findAllOf(cloud, ref, context);
  return { loadBalancer: ownOf(ref, all), observeTime };
}

/** Selects the own one of all load balancers with the ownership tags of a Service. */
export function ownOf({ key }: Pick<LoadBalancerRef, "key">, all: readonly LoadBalancer[]): LoadBalancer | undefined {
  // There is more than one only if a user copied the tags; a deletion deletes them all.
  return all.find(({ name }) => name === key) ?? all[0];
}

/** All load balancers with the ownership tags of a Service. */
export async function findAllOf(
  cloud: CloudAccess,
  ref: Pick<LoadBalancerRef, "service" | "cluster">,
  callScope: CallScope,
): Promise<LoadBalancer[]> {
  const tag = [clusterFilter(ref.cluster), `${serviceUidTag}=${ref.service.uid}`];
  return listAll(cloud, callScope, { tag });
}

/** All load balancers with the ownership tags of a cluster, as consistent as the read of one Service. */
export async function findAllOfCluster(
  cloud: CloudAccess,
  cluster: LoadBalancerRef["cluster"],
  callScope: CallScope,
): Promise<LoadBalancer[]> {
  return listAll(cloud, callScope, { tag: [clusterFilter(cluster)], pageSize: 1000 });
}

/** Why the name of a Service's load balancer is taken; undefined: by this Service itself, or not any more. */
export async function nameProblem(
  cloud: CloudAccess,
  ref: Pick<LoadBalancerRef, "key" | "cluster" | "service">,
  context: CallContext,
): Promise<ProviderError | undefined> {
  const [existing] = await listAll(cloud, context, { name: [ref.key] });
  if (!existing) return undefined;
  const problem = problemOfTags("load balancer", existing, ref.cluster);
  if (problem || existing.tags[serviceUidTag] === ref.service.uid) return problem;
  const { id, name } = existing;
  const message = `load balancer ${id} has the name ${name} and is tagged for another Service`;
  return new ProviderError("NAME_TAKEN", message, { metadata: { name, id } });
}

/** The operation under way; undefined if there is none. A hint: its loss costs nothing. */
export async function operationOf(
  cloud: CloudAccess,
  { operationId }: LoadBalancer,
  context: CallContext,
): Promise<Operation | undefined> {
  if (operationId === undefined) return undefined;
  try {
    return await cloud.ask(context, async (client, signal) => client.operation(operationId, signal));
  } catch (error) {
    if (refusalCode(error) === "OperationNotFound") return undefined;
    throw error;
  }
}

/** A load balancer by its id; undefined: there is none. */
export async function findById(
  cloud: CloudAccess,
  id: string,
  context: CallContext,
): Promise<LoadBalancer | undefined> {
  const [loadBalancer] = await listAll(cloud, context, { id: [id] });
  return loadBalancer;
}

/** The error that says that there is no load balancer to update. */
export function notFound(ref: LoadBalancerRef): ProviderError {
  const { namespace, name } = ref.service;
  return new ProviderError("LOAD_BALANCER_NOT_FOUND", `Service ${namespace}/${name} has no load balancer ${ref.key}`);
}

async function listAll(
  cloud: CloudAccess,
  callScope: CallScope,
  filter: Pick<ListOptions, "id" | "name" | "tag" | "pageSize">,
): Promise<LoadBalancer[]> {
  return collect(cloud, callScope, async (client, pageToken, signal) => {
    const page = await client.listLoadBalancers({ ...filter, pageToken, consistent: true }, signal);
    if (page.consistency === "strong") return page;
    throw new ProviderError("INCOMPLETE_ANSWER", "the response came from a replica that may lag");
  });
}
