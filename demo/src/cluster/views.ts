import { listAt, numberAt, textAt } from "./json.ts";

/** The fields of a Node that the demo shows. */
export interface NodeView {
  readonly name: string;
  /** Has the taint that a cloud-controller-manager removes. */
  readonly isTainted: boolean;
  readonly providerId: string;
  readonly zone: string;
  readonly instanceType: string;
  /** "InternalIP 127.10.0.1" and so on. */
  readonly addresses: readonly string[];
}

/** The fields of a Service that the demo shows. */
export interface ServiceView {
  /** namespace/name */
  readonly key: string;
  readonly type: string;
  readonly ports: readonly { readonly port: number; readonly nodePort: number }[];
  /** IP addresses and host names of its load balancer. */
  readonly addresses: readonly string[];
}

/** The fields of an Event that the demo shows. */
export interface EventView {
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** node-1, default/web, or leader for the controllers' own Lease. */
  readonly subject: string;
}

export const UNINITIALIZED_TAINT = "node.cloudprovider.kubernetes.io/uninitialized";

export function viewNode(node: unknown): NodeView {
  return {
    name: textAt(node, "metadata", "name"),
    isTainted: listAt(node, "spec", "taints").some((taint) => textAt(taint, "key") === UNINITIALIZED_TAINT),
    providerId: textAt(node, "spec", "providerID"),
    zone: textAt(node, "metadata", "labels", "topology.kubernetes.io/zone"),
    instanceType: textAt(node, "metadata", "labels", "node.kubernetes.io/instance-type"),
    addresses: listAt(node, "status", "addresses").map(
      (entry) => `${textAt(entry, "type")} ${textAt(entry, "address")}`,
    ),
  };
}

export function viewService(service: unknown): ServiceView {
  return {
    key: `${textAt(service, "metadata", "namespace")}/${textAt(service, "metadata", "name")}`,
    type: textAt(service, "spec", "type"),
    ports: listAt(service, "spec", "ports").map((port) => ({
      port: numberAt(port, "port"),
      nodePort: numberAt(port, "nodePort"),
    })),
    addresses: listAt(service, "status", "loadBalancer", "ingress")
      .map((entry) => textAt(entry, "ip") || textAt(entry, "hostname"))
      .filter((address) => address !== ""),
  };
}

export function viewEvent(event: unknown): EventView {
  const namespace = textAt(event, "involvedObject", "namespace");
  const name = textAt(event, "involvedObject", "name");
  const kind = textAt(event, "involvedObject", "kind");
  return {
    isWarning: textAt(event, "type") === "Warning",
    reason: textAt(event, "reason"),
    message: textAt(event, "message"),
    subject: kind === "Lease" ? "leader" : kind === "Node" || namespace === "" ? name : `${namespace}/${name}`,
  };
}
