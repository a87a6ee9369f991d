/** As much of a pod as tells whose identity a Lease has. */
export interface PodFacts {
  readonly name: string;
  /** "" before it is scheduled. */
  readonly node: string;
  /** spec.hostname; "": its name is its hostname. */
  readonly hostname: string;
  readonly isHostNetwork: boolean;
  readonly isRunning: boolean;
}

/** How long a hostname may be (pkg/kubelet/kubelet_pods.go v1.36.3, truncatePodHostnameIfNeeded). */
const HOSTNAME_LENGTH = 63;

/** The hostname in an identity: the controller's is `hostname_uuid`. */
export function hostnameOf(identity: string): string {
  const end = identity.lastIndexOf("_");
  return end < 0 ? identity : identity.slice(0, end);
}

/** The running pods in which a process of that hostname can be; more than one where a machine's name is all that is known. */
export function podsOfHost(hostname: string, pods: readonly PodFacts[]): readonly PodFacts[] {
  return pods.filter((pod) => pod.isRunning && isHostnameOf(hostname, pod));
}

/** In the host's network a pod has the machine's hostname, which may or may not have a domain, as the Node's name may. */
function isHostnameOf(hostname: string, { name, node, hostname: own, isHostNetwork }: PodFacts): boolean {
  if (isHostNetwork)
    return node !== "" && (node === hostname || node.startsWith(`${hostname}.`) || hostname.startsWith(`${node}.`));
  const shown = own === "" ? name : own;
  return shown.slice(0, HOSTNAME_LENGTH).replace(/[-.]+$/, "") === hostname;
}
