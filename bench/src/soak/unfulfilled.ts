import { createHash } from "node:crypto";
import type { Instance, LoadBalancer } from "@cloudwire/provider-simulated";
import { at, type Json, listOf } from "@cloudwire/test";
import type { ServiceWish } from "./desired-services.ts";

export interface Wishes {
  /** Name of each Node that shall be, to the id of its machine. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly services: readonly ServiceWish[];
}

/** What is at one moment. */
export interface Reality {
  readonly nodes: readonly Json[];
  /** Those of namespace default. */
  readonly services: readonly Json[];
  readonly instances: readonly Instance[];
  readonly loadBalancers: readonly LoadBalancer[];
}

const SERVICE_UID_TAG = "cloudwire.dev/service-uid";

/** Every wish that is not carried out, and all that is left of what nobody wants any more; one sentence each. */
export function unfulfilled(wishes: Wishes, reality: Reality): readonly string[] {
  return [...nodeFaults(wishes, reality), ...serviceFaults(wishes, reality), ...cloudFaults(wishes, reality)];
}

function nodeFaults({ nodes: wanted }: Wishes, { nodes, instances }: Reality): readonly string[] {
  const byName = new Map(nodes.map((node) => [nameOf(node), node]));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const extra = [...byName.keys()]
    .filter((name) => !wanted.has(name))
    .map((name) => `Node ${name} is still there, its machine is gone`);
  const faults = [...wanted].flatMap(([name, id]) => {
    const fault = nodeFault(byName.get(name), byId.get(id));
    return fault === undefined ? [] : [`Node ${name} ${fault}`];
  });
  return [...extra, ...faults];
}

function nodeFault(node: Json | undefined, machine: Instance | undefined): string | undefined {
  if (node === undefined) return "is missing, its machine is there";
  if (machine === undefined) return "has no machine at the cloud: the soak itself is wrong";
  const taints = listOf(at(node, "spec", "taints")).map(({ key }) => String(key));
  const cloudTaint = taints.find((key) => key.startsWith("node.cloudprovider.kubernetes.io/"));
  if (cloudTaint !== undefined) return `still has the taint ${cloudTaint}`;
  const providerId = `sim://${machine.zone}/${machine.id}`;
  if (at(node, "spec", "providerID") !== providerId) return `has not the provider ID ${providerId}`;
  if (at(node, "metadata", "labels", "topology.kubernetes.io/zone") !== machine.zone)
    return `has not the zone ${machine.zone}`;
  const addresses = listOf(at(node, "status", "addresses")).map(({ address }) => address);
  const missing = machine.internalAddresses.find((address) => !addresses.includes(address));
  return missing === undefined ? undefined : `has not the address ${missing}`;
}

function serviceFaults(wishes: Wishes, { services, loadBalancers }: Reality): readonly string[] {
  const byName = new Map(services.map((service) => [nameOf(service), service]));
  const names = new Set(wishes.services.map(({ name }) => name));
  const targets = targetsDigest([...wishes.nodes.values()]);
  const extra = [...byName.keys()]
    .filter((name) => name !== "kubernetes" && !names.has(name))
    .map((name) => `Service ${name} is still there, it was deleted`);
  const faults = wishes.services.flatMap((wish) => {
    const owned = loadBalancers.filter(({ tags }) => tags[SERVICE_UID_TAG] === wish.uid);
    const fault = serviceFault(wish, byName.get(wish.name), owned, targets);
    return fault === undefined ? [] : [`Service ${wish.name} ${fault}`];
  });
  return [...extra, ...faults];
}

function serviceFault(
  wish: ServiceWish,
  service: Json | undefined,
  owned: readonly LoadBalancer[],
  targets: string,
): string | undefined {
  if (service === undefined) return "is missing";
  const addresses = listOf(at(service, "status", "loadBalancer", "ingress")).map(({ ip }) => ip);
  const [loadBalancer] = owned;
  if (wish.type === "ClusterIP") {
    if (owned.length > 0) return "has a load balancer that it does not want";
    return addresses.length === 0 ? undefined : "has the address of a load balancer that it does not want";
  }
  if (loadBalancer === undefined || owned.length > 1) return `has ${owned.length} load balancers instead of 1`;
  if (loadBalancer.state !== "active") return `has a load balancer that is ${loadBalancer.state}`;
  const ports = loadBalancer.listeners.map(({ port }) => port);
  if (ports.join() !== String(wish.port)) return `wants port ${wish.port}, its load balancer has ${ports.join()}`;
  if (addresses.join() !== loadBalancer.address)
    return `has the address ${addresses.join()}, its load balancer ${loadBalancer.address}`;
  return loadBalancer.targetsDigest === targets
    ? undefined
    : `has a load balancer with ${loadBalancer.targetCount} targets that are not all the nodes`;
}

function cloudFaults(wishes: Wishes, { loadBalancers }: Reality): readonly string[] {
  const uids = new Set(wishes.services.map(({ uid }) => uid));
  return loadBalancers
    .filter(({ tags }) => !uids.has(tags[SERVICE_UID_TAG] ?? ""))
    .map(({ name }) => `Load balancer ${name} is at the cloud, its Service is gone`);
}

/** As the cloud makes it, of machines' ids. */
export function targetsDigest(ids: readonly string[]): string {
  const lines = ids.toSorted().map((id) => `${id}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}

function nameOf(object: Json): string {
  return String(at(object, "metadata", "name"));
}
