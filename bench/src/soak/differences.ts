import { createHash } from "node:crypto";
import type { Instance, LoadBalancer } from "@cloudwire/provider-simulated";
import { at, type Json, listOf } from "@cloudwire/test";
import type { DesiredService } from "./desired-services.ts";

export interface DesiredObjects {
  /** Name of each desired Node, mapped to the ID of its instance. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly services: readonly DesiredService[];
}

/** The objects of the cluster and the cloud at one moment. */
export interface ActualObjects {
  readonly nodes: readonly Json[];
  /** In the namespace default. */
  readonly services: readonly Json[];
  readonly instances: readonly Instance[];
  readonly loadBalancers: readonly LoadBalancer[];
}

const SERVICE_UID_TAG = "cloudwire.dev/service-uid";

/** Describes each difference from the desired objects, including objects that should be deleted; one sentence each. */
export function differencesFrom(desired: DesiredObjects, actual: ActualObjects): readonly string[] {
  return [...nodeFaults(desired, actual), ...serviceFaults(desired, actual), ...cloudFaults(desired, actual)];
}

function nodeFaults({ nodes: wanted }: DesiredObjects, { nodes, instances }: ActualObjects): readonly string[] {
  const byName = new Map(nodes.map((node) => [nameOf(node), node]));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const extra = [...byName.keys()]
    .filter((name) => !wanted.has(name))
    .map((name) => `Node ${name} still exists, its instance does not`);
  const faults = [...wanted].flatMap(([name, id]) => {
    const fault = nodeFault(byName.get(name), byId.get(id));
    return fault === undefined ? [] : [`Node ${name} ${fault}`];
  });
  return [...extra, ...faults];
}

function nodeFault(node: Json | undefined, machine: Instance | undefined): string | undefined {
  if (node === undefined) return "is missing, its instance exists";
  if (machine === undefined) return "has no instance in the cloud: a bug of the soak test";
  const taints = listOf(at(node, "spec", "taints")).map(({ key }) => String(key));
  const cloudTaint = taints.find((key) => key.startsWith("node.cloudprovider.kubernetes.io/"));
  if (cloudTaint !== undefined) return `still has the taint ${cloudTaint}`;
  const providerId = `sim://${machine.zone}/${machine.id}`;
  if (at(node, "spec", "providerID") !== providerId) return `does not have the provider ID ${providerId}`;
  if (at(node, "metadata", "labels", "topology.kubernetes.io/zone") !== machine.zone)
    return `does not have the zone ${machine.zone}`;
  const addresses = listOf(at(node, "status", "addresses")).map(({ address }) => address);
  const missing = machine.internalAddresses.find((address) => !addresses.includes(address));
  return missing === undefined ? undefined : `does not have the address ${missing}`;
}

function serviceFaults(desired: DesiredObjects, { services, loadBalancers }: ActualObjects): readonly string[] {
  const byName = new Map(services.map((service) => [nameOf(service), service]));
  const names = new Set(desired.services.map(({ name }) => name));
  const targets = targetsDigest([...desired.nodes.values()]);
  const extra = [...byName.keys()]
    .filter((name) => name !== "kubernetes" && !names.has(name))
    .map((name) => `Service ${name} still exists after its deletion`);
  const faults = desired.services.flatMap((service) => {
    const owned = loadBalancers.filter(({ tags }) => tags[SERVICE_UID_TAG] === service.uid);
    const fault = serviceFault(service, byName.get(service.name), owned, targets);
    return fault === undefined ? [] : [`Service ${service.name} ${fault}`];
  });
  return [...extra, ...faults];
}

function serviceFault(
  desired: DesiredService,
  service: Json | undefined,
  owned: readonly LoadBalancer[],
  targets: string,
): string | undefined {
  if (service === undefined) return "is missing";
  const addresses = listOf(at(service, "status", "loadBalancer", "ingress")).map(({ ip }) => ip);
  const [loadBalancer] = owned;
  if (desired.type === "ClusterIP") {
    if (owned.length > 0) return "has an unneeded load balancer";
    return addresses.length === 0 ? undefined : "has the address of an unneeded load balancer";
  }
  if (loadBalancer === undefined || owned.length > 1) return `has ${owned.length} load balancers instead of 1`;
  if (loadBalancer.state !== "active") return `has a load balancer that is ${loadBalancer.state}`;
  const ports = loadBalancer.listeners.map(({ port }) => port);
  if (ports.join() !== String(desired.port)) return `wants port ${desired.port}, its load balancer has ${ports.join()}`;
  if (addresses.join() !== loadBalancer.address)
    return `has the address ${addresses.join()}, its load balancer ${loadBalancer.address}`;
  return loadBalancer.targetsDigest === targets
    ? undefined
    : `has a load balancer with ${loadBalancer.targetCount} targets that are not all the nodes`;
}

function cloudFaults(desired: DesiredObjects, { loadBalancers }: ActualObjects): readonly string[] {
  const uids = new Set(desired.services.map(({ uid }) => uid));
  return loadBalancers
    .filter(({ tags }) => !uids.has(tags[SERVICE_UID_TAG] ?? ""))
    .map(({ name }) => `Load balancer ${name} is in the cloud, its Service does not exist`);
}

/** As the cloud computes it from instance IDs. */
export function targetsDigest(ids: readonly string[]): string {
  const lines = ids.toSorted().map((id) => `${id}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}

function nameOf(object: Json): string {
  return String(at(object, "metadata", "name"));
}
