import { CommandError } from "../errors.ts";
import { at, textAt } from "./json.ts";
import type { KubeApi } from "./kube-api.ts";

export interface LeaderChoice {
  readonly namespace: string;
  /** Name of the Lease. */
  readonly lease: string;
}

/** Labels that hold the name of the program in our chart and in most others. */
const LABELS = ["app.kubernetes.io/name", "app.kubernetes.io/component", "k8s-app", "component", "app"];
const PROGRAM = /cloud-?controller-?manager|cloudwire|ccm/;

/** Name of the leader's pod. Rejects with a CommandError if there is no leader, or if its pod is unknown. */
export async function leaderPod(kube: KubeApi, { namespace, lease }: LeaderChoice): Promise<string> {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const found = await kube.get(`${leases}/${encodeURIComponent(lease)}`, {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get"],
    namespace,
  });
  if (found === undefined)
    throw new CommandError(
      "LEADER_NOT_FOUND",
      `Lease ${namespace}/${lease} does not exist: no controller has run there. Check --namespace and --lease, or select a controller with --pod or --server`,
    );
  const identity = textAt(found, "spec", "holderIdentity");
  if (identity === "")
    throw new CommandError(
      "LEADER_NOT_FOUND",
      `Lease ${namespace}/${lease} is not held: no controller is the leader. Use --pod to query a standby`,
    );
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
  // The hostname of a Node may differ from its name (--hostname-override of the kubelet): then only labels identify the pod.
  const candidates = ofHost.length > 0 ? ofHost : facts.filter(({ isRunning, name }) => isRunning && named.has(name));
  // With hostNetwork, all pods of a Node have its hostname.
  const likely = candidates.length > 1 ? candidates.filter(({ name }) => named.has(name)) : candidates;
  const [pod, ...others] = likely;
  if (pod === undefined || others.length > 0) {
    const why =
      pod === undefined
        ? `no running pod in ${namespace} has hostname ${hostnameOf(identity)} or the labels of a cloud-controller-manager`
        : `several pods match: ${likely.map(({ name }) => name).join(", ")}`;
    throw new CommandError(
      "LEADER_NOT_FOUND",
      `cannot determine the pod of leader ${identity}: ${why}; specify it with --pod, or connect to the controller with --server`,
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

/** Maximum length of a hostname (pkg/kubelet/kubelet_pods.go v1.36.3, truncatePodHostnameIfNeeded). */
const HOSTNAME_LENGTH = 63;

/** The hostname in an identity: the controller's is `hostname_uuid`. */
export function hostnameOf(identity: string): string {
  const end = identity.lastIndexOf("_");
  return end < 0 ? identity : identity.slice(0, end);
}

/** The running pods whose processes have that hostname; with hostNetwork, there may be several. */
export function podsOfHost(hostname: string, pods: readonly PodFacts[]): readonly PodFacts[] {
  return pods.filter((pod) => pod.isRunning && isHostnameOf(hostname, pod));
}

/** With hostNetwork, the hostname is that of the Node; either may have a domain. */
function isHostnameOf(hostname: string, { name, node, hostname: own, isHostNetwork }: PodFacts): boolean {
  if (isHostNetwork)
    return node !== "" && (node === hostname || node.startsWith(`${hostname}.`) || hostname.startsWith(`${node}.`));
  const shown = own === "" ? name : own;
  return shown.slice(0, HOSTNAME_LENGTH).replace(/[-.]+$/, "") === hostname;
}
