import { randomUUID } from "node:crypto";
import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { LoadBalancer } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type EnsureRequest, serviceRef } from "@cloudwire/provider-sdk/testing";
import type { Fact } from "../recording.ts";
import type { Stage } from "../stage.ts";
import { until } from "./fixtures.ts";

type Spec = NonNullable<EnsureRequest["spec"]>;
type Port = NonNullable<Spec["ports"]>[number];

/** Of the provider's own annotations. */
const prefix = "loadbalancer.openstack.org/";

export const tcp = (port: number, nodePort = 30_000 + port): Port => ({
  name: `tcp-${port}`,
  protocol: Protocol.TCP,
  port,
  nodePort,
});

export const udp = (port: number, nodePort = 30_000 + port): Port => ({
  name: `udp-${port}`,
  protocol: Protocol.UDP,
  port,
  nodePort,
});

export interface DesiredLoadBalancer {
  readonly service?: string;
  readonly ports: readonly Port[];
  readonly nodes?: readonly Fact[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly more?: Partial<Spec>;
  /** Of the spec; it changes with the request. Not a digest: that would be of ids that recordings do not have. */
  readonly version: string;
}

/** A request for a load balancer. */
export function requestOf({
  service = "default/web",
  ports,
  nodes = [],
  annotations = {},
  more,
  version,
}: DesiredLoadBalancer) {
  return {
    service: serviceRef(service),
    spec: { ports: [...ports], annotations: prefixed(annotations), ...more },
    specFingerprint: `spec-${version}`,
    nodes: selectionOf(nodes),
  };
}

/** Annotations as on a Service. */
function prefixed(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [name.includes("/") ? name : `${prefix}${name}`, value]),
  );
}

function selectionOf(nodes: readonly Fact[]) {
  const targets = nodes.map(({ id, name = "", address = "" }) => ({
    name,
    providerId: `openstack:///${id}`,
    addresses: [{ type: NodeAddressType.INTERNAL_IP, address }],
  }));
  return {
    fingerprint: `nodes-${nodes.map(({ name }) => name).join("-")}`,
    count: targets.length,
    source: { $case: "inline" as const, value: { nodes: targets } },
  };
}

/**
 * Ensures, however long it takes: what takes longer than a call goes on, and the same request is answered with its end. So the provider works once, and asks
 * the same of a slow cloud and a fast one.
 */
export async function ensure({ client }: Stage, desired: DesiredLoadBalancer) {
  const request = { ...requestOf(desired), change: { requestId: randomUUID() } };
  return ended(`load balancer ${desired.version} to match the spec`, async () => {
    return (await client.ensureLoadBalancer(request)).loadBalancer;
  });
}

/** Changes the nodes of a load balancer, likewise. */
export async function updateNodes({ client }: Stage, nodes: readonly Fact[], service = "default/web") {
  const request = { service: serviceRef(service), nodes: selectionOf(nodes), change: { requestId: randomUUID() } };
  return ended(`nodes of ${service} to be changed`, async () => {
    return (await client.updateLoadBalancerNodes(request)).loadBalancer;
  });
}

async function ended(what: string, call: () => Promise<LoadBalancer | undefined>): Promise<LoadBalancer | undefined> {
  let answer = await call();
  await until(what, async () => {
    if (answer?.operation !== undefined) answer = await call();
    return answer?.operation === undefined;
  });
  return answer;
}

/** Asks for the deletion until all is gone. */
export async function deleted(
  { client }: Stage,
  service = "default/web",
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await until(`the load balancer of ${service} to be gone`, async () => {
    const request = { service: serviceRef(service), annotations: prefixed(annotations) };
    return (await client.deleteLoadBalancer(request)).done;
  });
}

/** The address that the Service gets. */
export async function ingressOf({ client }: Stage, service = "default/web"): Promise<string | undefined> {
  const { outcome } = await client.getLoadBalancer({ service: serviceRef(service) });
  if (outcome?.$case !== "loadBalancer") return undefined;
  return outcome.value.ingress?.items[0]?.ip;
}
