import type { ServicePort, TargetNode, DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { servicePort, desiredLoadBalancer } from "@cloudwire/provider-sdk/testing";

/** What follows in the keys of annotations. */
const prefix = "loadbalancer.openstack.org/";

/** A desired load balancer as the SDK passes it, with annotations by their short names. */
export function wanted(
  annotations: Readonly<Record<string, string>> = {},
  more: Partial<DesiredLoadBalancer> = {},
): DesiredLoadBalancer {
  const named = Object.entries(annotations).map(([name, value]) => [prefix + name, value]);
  return desiredLoadBalancer({ annotations: Object.fromEntries(named), ...more });
}

export function tcp(port: number, nodePort?: number): ServicePort {
  return servicePort("TCP", port, nodePort);
}

export function udp(port: number, nodePort?: number): ServicePort {
  return servicePort("UDP", port, nodePort);
}

export function node(number: number): TargetNode {
  const ip = `10.0.0.${number}`;
  const addresses = [{ type: "InternalIP", address: ip } as const];
  return { name: `node-${number}`, providerId: `openstack:///${number}`, ip, addresses, labels: {} };
}
