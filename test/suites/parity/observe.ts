import type { Instance, LoadBalancer, Route } from "@cloudwire/provider-simulated";
import { at, type Json, listOf } from "../../support/kube.ts";
import { flatten } from "./report/flatten.ts";
import { Aliases } from "./report/aliases.ts";
import type { Stage } from "./stage.ts";

/** Everything that could be seen of a scenario, as texts that two runs can be compared by. */
export interface Observation {
  /** What is compared: place to value. */
  readonly facts: ReadonlyMap<string, string>;
  /** Writes to the API server, events among them. */
  readonly writes: number;
  /** Calls of the cloud that name a machine, node or Service of the scenario. */
  readonly cloudCalls: number;
  /** Steps of the scenario that threw, with their errors. The facts are incomplete then. */
  readonly failures: readonly string[];
}

const CALL_MS = 10_000;

/** Reads what a scenario left behind. */
export async function observe(stage: Stage): Promise<Observation> {
  const { world } = stage;
  const signal = AbortSignal.timeout(CALL_MS);
  const [nodes, services, events, writes, loadBalancers, routes] = await Promise.all([
    world.kube.items("/api/v1/nodes"),
    world.kube.items(`${stage.namespace}/services`),
    world.events(),
    world.writes(),
    world.cloud.listLoadBalancers({ pageSize: 500, consistent: true }, signal),
    world.cloud.listRoutes({ pageSize: 1000, consistent: true }, signal),
  ]);
  const own = {
    nodes: nodes.filter((node) => stage.nodes.has(nameOf(node))),
    services,
    events: events.filter((event) => stage.isAbout(event)),
    loadBalancers: loadBalancers.items.filter(({ tags }) => tags["cloudwire.dev/service-namespace"] === stage.slug),
    routes: routes.items.filter(({ instanceId }) => stage.machines.has(instanceId)),
  };
  const aliases = aliasesOf(stage, own);
  const facts = new Map<string, string>();
  const say = (place: string, value: unknown): void => {
    for (const [path, text] of flatten(value)) {
      facts.set(aliases.replace(`${place}${path}`), aliases.replace(text));
    }
  };
  for (const what of stage.inVain) say(`waited without success: ${what}`, true);
  for (const node of own.nodes) say(`Node ${nameOf(node)}`, nodeFacts(node));
  for (const service of own.services) say(`Service ${nameOf(service)}`, serviceFacts(service));
  for (const event of own.events) say(eventFact(event), true);
  for (const one of own.loadBalancers) {
    say(`load balancer of ${one.tags["cloudwire.dev/service-name"] ?? "?"}`, await loadBalancerFacts(stage, one));
  }
  for (const one of own.routes)
    say(`route ${one.destination} ${one.instanceId}`, { state: one.state, label: one.label });
  const mine = writes.filter(
    ({ namespace, name, receivedAt }) => stage.owns(namespace, name) && Date.parse(receivedAt) >= stage.fromMs,
  );
  for (const [what, count] of countWrites(mine)) say(`write: ${what}`, count);
  return { facts, writes: mine.length, cloudCalls: countCalls(stage), failures: [] };
}

interface Own {
  readonly services: readonly Json[];
  readonly loadBalancers: readonly LoadBalancer[];
  readonly routes: readonly Route[];
}

/** Names for all that each world has its own values of. */
function aliasesOf(stage: Stage, { services, loadBalancers, routes }: Own): Aliases {
  const aliases = new Aliases();
  for (const machine of stage.machines.values()) nameMachine(aliases, machine);
  for (const service of services) {
    const name = nameOf(service);
    listOf(at(service, "spec", "ports")).forEach((port, index) => {
      aliases.add(port["nodePort"], `<node port ${index} of ${name}>`);
    });
    aliases.add(at(service, "spec", "healthCheckNodePort"), `<health check port of ${name}>`);
    const clusterIps = at(service, "spec", "clusterIPs");
    if (Array.isArray(clusterIps)) {
      clusterIps.forEach((address, index) => aliases.add(address, `<cluster IP ${index} of ${name}>`));
    }
  }
  for (const [name, uid] of stage.services) aliases.add(uid, `<uid of ${name}>`);
  for (const one of loadBalancers) {
    const service = one.tags["cloudwire.dev/service-name"] ?? "?";
    aliases.add(one.id, `<load balancer of ${service}>`);
    aliases.add(one.address, `<address of ${service}>`);
  }
  for (const one of routes) aliases.add(one.id, `<route ${one.destination}>`);
  return aliases;
}

function nameMachine(aliases: Aliases, { id, name, internalAddresses, externalAddresses }: Instance): void {
  aliases.add(id, `<id of ${name}>`);
  internalAddresses.forEach((address, index) => aliases.add(address, `<internal ${index} of ${name}>`));
  externalAddresses.forEach((address, index) => aliases.add(address, `<external ${index} of ${name}>`));
}

function nameOf(object: Json): string {
  return String(at(object, "metadata", "name"));
}

function eventFact(event: Json): string {
  const about = `${String(at(event, "involvedObject", "kind"))} ${String(at(event, "involvedObject", "name"))}`;
  const from = String(at(event, "source", "component"));
  return `event: ${about} ${from} ${String(event["type"])} ${String(event["reason"])} "${String(event["message"])}"`;
}

function metadataFacts(object: Json): Json {
  const { labels, annotations, finalizers, deletionTimestamp } = jsonAt(object, "metadata");
  return {
    labels,
    annotations,
    finalizers: Array.isArray(finalizers) ? finalizers.map(String).toSorted() : finalizers,
    deleting: deletionTimestamp !== undefined,
  };
}

function nodeFacts(node: Json): Json {
  const { podCIDR, podCIDRs, providerID, taints, unschedulable } = jsonAt(node, "spec");
  return {
    ...metadataFacts(node),
    spec: { podCIDR, podCIDRs, providerID, unschedulable, taints: byKey(taints, "key") },
    status: {
      addresses: at(node, "status", "addresses"),
      conditions: conditionFacts(at(node, "status", "conditions")),
    },
  };
}

function serviceFacts(service: Json): Json {
  return {
    ...metadataFacts(service),
    spec: service["spec"],
    status: {
      loadBalancer: at(service, "status", "loadBalancer"),
      conditions: conditionFacts(at(service, "status", "conditions")),
    },
  };
}

function conditionFacts(conditions: unknown): Json {
  const without = listOf(conditions).map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  return byKey(without, "type");
}

function byKey(list: unknown, key: string): Json {
  return Object.fromEntries(listOf(list).map(({ [key]: name, ...rest }) => [String(name), rest] as const));
}

async function loadBalancerFacts(stage: Stage, one: LoadBalancer): Promise<Json> {
  const {
    class: flavor,
    state,
    sourceRanges,
    sessionAffinity,
    idleTimeoutMs,
    healthCheck,
    protected: isProtected,
  } = one;
  const targets = await stage.world.cloud.targets(one.id, AbortSignal.timeout(CALL_MS));
  // Only this scenario's machines: the pool that all of them share is the same on both sides.
  const names = targets.map(({ instanceId }) => stage.machines.get(instanceId)?.name ?? "others");
  return {
    flavor,
    state,
    sourceRanges,
    sessionAffinity,
    idleTimeoutMs,
    healthCheck,
    isProtected,
    listeners: one.listeners.map(
      ({ port, protocol, targetPort, status }) => `${protocol} ${port} to ${targetPort} ${status}`,
    ),
    targets: [...new Set(names)].toSorted(),
  };
}

/** Writes that took effect, by kind; events are compared by what they say. */
function countWrites(
  writes: readonly {
    readonly verb: string;
    readonly resource: string | undefined;
    readonly subresource: string | undefined;
    readonly code: number | undefined;
  }[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { verb, resource = "", subresource, code = 0 } of writes) {
    if (resource === "events" || code >= 300) continue;
    const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}

function countCalls(stage: Stage): number {
  const names = [...stage.machines.keys(), ...stage.nodes, ...stage.services.values()];
  const mine = stage.world.cloudCalls.filter(
    ({ path, body, endedAtMs }) =>
      endedAtMs >= stage.fromMs && names.some((name) => path.includes(name) || body.includes(name)),
  );
  return mine.length;
}

function jsonAt(value: Json, key: string): Json {
  const [found = {}] = listOf([value[key]]);
  return found;
}
