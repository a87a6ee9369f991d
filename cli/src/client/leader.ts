import { CommandError } from "../errors.ts";
import { at, textAt } from "./json.ts";
import type { KubeApi } from "./kube-api.ts";

export interface LeaderQuestion {
  readonly namespace: string;
  /** Of the Lease. */
  readonly lease: string;
}

/** What the chart, and most others, call the program. */
const LABELS = ["app.kubernetes.io/name", "app.kubernetes.io/component", "k8s-app", "component", "app"];
const PROGRAM = /cloud-?controller-?manager|cloudwire|ccm/;

/** Name of the leader's pod. Rejects with a CommandError if there is no leader, or if its pod is unknown. */
export async function leaderPod(kube: KubeApi, { namespace, lease }: LeaderQuestion): Promise<string> {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const found = await kube.get(`${leases}/${encodeURIComponent(lease)}`, {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get"],
    namespace,
  });
  if (found === undefined)
    throw new CommandError(
      `there is no Lease ${namespace}/${lease}: no controller has run there. --namespace and --lease say where to look, --pod and --server ask one controller directly`,
    );
  const identity = textAt(found, "spec", "holderIdentity");
  if (identity === "")
    throw new CommandError(`no leader: the Lease ${namespace}/${lease} has no leader. Use --pod to query a standby`);
  return podOf(kube, namespace, identity);
}

async function podOf(kube: KubeApi, namespace: string, identity: string): Promise<string> {
  const pods = await kube.list(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, {
    apiGroup: "",
    resource: "pods",
    verbs: ["list"],
    namespace,
  });
  const facts = pods.map(factsOf);
  const named = new Set(pods.filter(isProgram).map((pod) => textAt(pod, "metadata", "name")));
  const ofHost = podsOfHost(hostnameOf(identity), facts);
  // A Node may have another name than its machine (--hostname-override of the kubelet): then only what a pod is called is left.
  const candidates = ofHost.length > 0 ? ofHost : facts.filter(({ isRunning, name }) => isRunning && named.has(name));
  // In the host's network everything on the machine has its hostname.
  const likely = candidates.length > 1 ? candidates.filter(({ name }) => named.has(name)) : candidates;
  const [pod, ...others] = likely;
  if (pod === undefined || others.length > 0) {
    const why =
      pod === undefined
        ? `no running pod of ${namespace} has the hostname ${hostnameOf(identity)} or is a cloud-controller-manager by its labels`
        : `it may be any of the pods ${likely.map(({ name }) => name).join(", ")}`;
    throw new CommandError(
      `${identity} leads, and ${why}: name the pod with --pod, or ask the controller directly with --server`,
    );
  }
  return pod.name;
}

function isProgram(pod: unknown): boolean {
  return LABELS.some((label) => PROGRAM.test(textAt(pod, "metadata", "labels", label)));
}

function factsOf(pod: unknown): PodFacts {
  return {
    name: textAt(pod, "metadata", "name"),
    node: textAt(pod, "spec", "nodeName"),
    hostname: textAt(pod, "spec", "hostname"),
    isHostNetwork: at(pod, "spec", "hostNetwork") === true,
    isRunning: textAt(pod, "status", "phase") === "Running" && at(pod, "metadata", "deletionTimestamp") === undefined,
  };
}

/** The parts of a pod that identify a Lease holder. */
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
