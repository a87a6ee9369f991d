import { PATHS } from "@cloudwire/operator-api";
import {
  CLOUD_CONTROLLER_MANAGER,
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  KUBELET_SERVING_CSR_APPROVER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  OFF_BY_DEFAULT,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "./controller-names.ts";
import { MIGRATION_LEASE_NAME } from "./lease.ts";

/** What every replica does, whichever controllers run. */
export const EVERY_REPLICA = "every-replica";
/** What `--leader-elect` needs, which is on by default. */
export const LEADER_ELECTION = "leader-election";
/** What `--enable-leader-migration` needs besides, which is off by default. */
export const LEADER_MIGRATION = "leader-migration";
/** What the secure port needs (`--secure-port`), which is on by default. */
export const SERVING = "serving";

/** What a process needs that only observes (`--mode=observe`), in the place of everything else. */
export const OBSERVER = "observer";

/** Who reads the status page, or asks with `cloudwire`: not the process but its operators. */
export const STATUS_READER = "status-reader";

/** All that a {@link STATUS_READER} gets from the secure port, as RBAC's nonResourceURLs. */
export const STATUS_READER_PATHS: readonly string[] = [
  ...Object.values(PATHS),
  `${PATHS.page}/*`,
  `${PATHS.controllers}/*`,
].toSorted();

/** Parts of the process that are off by default: their rights are granted where they are turned on. */
export const GRANTED_ON_REQUEST: ReadonlySet<string> = new Set([...OFF_BY_DEFAULT, LEADER_MIGRATION]);

/** Kubernetes' name of it in RBAC. */
type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "approve";

/** A right that the process uses at the API server. */
export interface Permission {
  /** A controller's name, or one of the names above. */
  readonly of: string;
  /** Where, if not in the whole cluster. */
  readonly namespace?: string;
  readonly group: string;
  /** Plural, with its subresource. */
  readonly resource: string;
  /** Only these objects. */
  readonly names?: readonly string[];
  readonly verbs: readonly Verb[];
  /** What it is for, as a sentence without full stop. */
  readonly why: string;
}

/** Every right that the process uses, and no other: manifests are made from it, and a test compares with what the API server saw. */
export const PERMISSIONS: readonly Permission[] = [
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "namespaces",
    names: ["kube-system"],
    verbs: ["get"],
    why: "its UID is the identity of the cluster, which marks what is made at a cloud",
  },
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "nodes",
    verbs: ["list", "watch"],
    why: "all controllers need them; a standby too, which is warm",
  },
  { of: EVERY_REPLICA, group: "", resource: "services", verbs: ["list", "watch"], why: "likewise" },
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "events",
    verbs: ["create", "patch"],
    why: "tells people what it did and what stands in the way; patch counts what happens again",
  },
  {
    of: LEADER_ELECTION,
    namespace: "kube-system",
    group: "coordination.k8s.io",
    resource: "leases",
    verbs: ["create"],
    why: "makes the Lease; RBAC cannot narrow this to a name",
  },
  {
    of: LEADER_ELECTION,
    namespace: "kube-system",
    group: "coordination.k8s.io",
    resource: "leases",
    names: [CLOUD_CONTROLLER_MANAGER],
    verbs: ["get", "update", "watch"],
    why: "takes and renews the Lease; a standby watches it",
  },
  {
    of: LEADER_MIGRATION,
    namespace: "kube-system",
    group: "coordination.k8s.io",
    resource: "leases",
    names: [MIGRATION_LEASE_NAME],
    verbs: ["get", "update", "watch"],
    why: "takes and renews the second Lease",
  },
  {
    of: SERVING,
    group: "authentication.k8s.io",
    resource: "tokenreviews",
    verbs: ["create"],
    why: "asks who a token belongs to",
  },
  {
    of: SERVING,
    group: "authorization.k8s.io",
    resource: "subjectaccessreviews",
    verbs: ["create"],
    why: "asks who may read a page",
  },
  {
    of: SERVING,
    namespace: "kube-system",
    group: "",
    resource: "configmaps",
    names: ["extension-apiserver-authentication"],
    verbs: ["get"],
    why: "reads which client certificates and proxies the API server believes",
  },
  {
    of: CLOUD_NODE_CONTROLLER,
    group: "",
    resource: "nodes",
    verbs: ["get", "patch"],
    why: "writes provider ID, labels and taints; reads again what somebody else has changed meanwhile",
  },
  { of: CLOUD_NODE_CONTROLLER, group: "", resource: "nodes/status", verbs: ["patch"], why: "writes addresses" },
  {
    of: CLOUD_NODE_LIFECYCLE_CONTROLLER,
    group: "",
    resource: "nodes",
    verbs: ["get", "patch", "delete"],
    why: "puts the shutdown taint on and off, and deletes the Nodes of machines that are gone",
  },
  {
    of: SERVICE_LB_CONTROLLER,
    group: "",
    resource: "services/status",
    verbs: ["patch"],
    why: "writes the address and the condition, and puts the finalizer on and off",
  },
  {
    of: NODE_ROUTE_CONTROLLER,
    group: "",
    resource: "nodes/status",
    verbs: ["patch"],
    why: "writes the condition NetworkUnavailable",
  },
  {
    of: NODE_IPAM_CONTROLLER,
    group: "",
    resource: "nodes",
    verbs: ["get", "list", "patch"],
    why: "reads which ranges are taken, and gives Nodes theirs",
  },
  {
    of: PERSISTENT_VOLUME_LABEL_CONTROLLER,
    group: "",
    resource: "persistentvolumes",
    verbs: ["list", "watch", "patch"],
    why: "gives volumes the labels and the affinity of their zone",
  },
  {
    of: KUBELET_SERVING_CSR_APPROVER,
    group: "certificates.k8s.io",
    resource: "certificatesigningrequests",
    verbs: ["list", "watch"],
    why: "hears of requests",
  },
  {
    of: KUBELET_SERVING_CSR_APPROVER,
    group: "certificates.k8s.io",
    resource: "certificatesigningrequests/approval",
    verbs: ["patch"],
    why: "approves requests",
  },
  {
    of: KUBELET_SERVING_CSR_APPROVER,
    group: "certificates.k8s.io",
    resource: "signers",
    names: ["kubernetes.io/kubelet-serving"],
    verbs: ["approve"],
    why: "approves requests to this signer and to no other",
  },
];

const READING: ReadonlySet<Verb> = new Set(["get", "list", "watch"]);

/**
 * Rights of a process that only observes: those above that read, whichever controllers run, and no other. Reviews, which the API server
 * answers and does not keep, belong to the secure port.
 */
export const OBSERVER_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(
  ({ of }) => of !== LEADER_ELECTION && of !== LEADER_MIGRATION,
).flatMap((permission) => {
  const verbs = permission.of === SERVING ? permission.verbs : permission.verbs.filter((verb) => READING.has(verb));
  return verbs.length === 0 ? [] : [{ ...permission, of: OBSERVER, verbs }];
});
