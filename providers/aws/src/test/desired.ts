import type { ServicePort, DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { servicePort, desiredLoadBalancer } from "@cloudwire/provider-sdk/testing";

/** What follows in the keys of annotations. */
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

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
