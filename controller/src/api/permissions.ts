import { PATHS } from "@cloudwire/operator-api";
import { KUBELET_SERVING_SIGNER } from "./certificate-signing-request.ts";
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

/** Required by every replica. */
export const EVERY_REPLICA = "every-replica";
/** Required by `--leader-elect`, which is on by default. */
export const LEADER_ELECTION = "leader-election";
/** Required by `--enable-leader-migration`, which is off by default. */
export const LEADER_MIGRATION = "leader-migration";
/** Required by the secure port (`--secure-port`), which is on by default. */
export const SERVING = "serving";
/** Required by `--mode=observe`, instead of all others. */
export const OBSERVER = "observer";
/** For operators who read the status page or run `cloudwire`. */
export const STATUS_READER = "status-reader";

/** Permissions of a {@link STATUS_READER} on the secure port, as RBAC's nonResourceURLs. */
export const STATUS_READER_PATHS: readonly string[] = [
  ...Object.values(PATHS),
  `${PATHS.page}/*`,
  `${PATHS.controllers}/*`,
].toSorted();

/** Parts that are off by default: their permissions are granted where they are enabled. */
export const GRANTED_ON_REQUEST: ReadonlySet<string> = new Set([...OFF_BY_DEFAULT, LEADER_MIGRATION]);

/** A verb of RBAC. */
type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "approve";

/** A permission of the process at the API server. */
export interface Permission {
  /** A controller's name, or one of the names above. */
  readonly of: string;
  /** @default the whole cluster */
  readonly namespace?: string;
  readonly group: string;
  /** Plural, with its subresource. */
  readonly resource: string;
  /** Only these objects. */
  readonly names?: readonly string[];
  readonly verbs: readonly Verb[];
  /** Purpose, as a sentence without period. */
  readonly why: string;
}

const NAMESPACE = "kube-system";
const NODES = { group: "", resource: "nodes" } as const;
const NODE_STATUS = { group: "", resource: "nodes/status" } as const;
const LEASES = { namespace: NAMESPACE, group: "coordination.k8s.io", resource: "leases" } as const;
const CERTIFICATES = { of: KUBELET_SERVING_CSR_APPROVER, group: "certificates.k8s.io" } as const;

/** All permissions that the process uses. The manifests are made from them, and a test compares them with the requests to the API server. */
export const PERMISSIONS: readonly Permission[] = [
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "namespaces",
    names: [NAMESPACE],
    verbs: ["get"],
    why: "its UID is the cluster ID, in the ownership tags of cloud resources",
  },
  { of: EVERY_REPLICA, ...NODES, verbs: ["list", "watch"], why: "all controllers, and warm standbys, cache Nodes" },
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "services",
    verbs: ["list", "watch"],
    why: "all replicas, and warm standbys, cache Services",
  },
  {
    of: EVERY_REPLICA,
    group: "",
    resource: "events",
    verbs: ["create", "patch"],
    why: "reports changes and problems; patch counts repeated events",
  },
  { of: LEADER_ELECTION, ...LEASES, verbs: ["create"], why: "creates the Lease; RBAC cannot limit this to a name" },
  {
    of: LEADER_ELECTION,
    ...LEASES,
    names: [CLOUD_CONTROLLER_MANAGER],
    verbs: ["get", "update", "watch"],
    why: "acquires and renews the Lease; a standby watches it",
  },
  {
    of: LEADER_MIGRATION,
    ...LEASES,
    names: [MIGRATION_LEASE_NAME],
    verbs: ["get", "update", "watch"],
    why: "acquires and renews the second Lease",
  },
  {
    of: SERVING,
    group: "authentication.k8s.io",
    resource: "tokenreviews",
    verbs: ["create"],
    why: "authenticates the user of a token",
  },
  {
    of: SERVING,
    group: "authorization.k8s.io",
    resource: "subjectaccessreviews",
    verbs: ["create"],
    why: "checks who may read an endpoint",
  },
  {
    of: SERVING,
    namespace: NAMESPACE,
    group: "",
    resource: "configmaps",
    names: ["extension-apiserver-authentication"],
    verbs: ["get"],
    why: "reads the client CA certificates and proxies that the API server trusts",
  },
  {
    of: CLOUD_NODE_CONTROLLER,
    ...NODES,
    verbs: ["get", "patch"],
    why: "writes provider ID, labels and taints; reads a Node again after a conflict",
  },
  { of: CLOUD_NODE_CONTROLLER, ...NODE_STATUS, verbs: ["patch"], why: "writes addresses" },
  {
    of: CLOUD_NODE_LIFECYCLE_CONTROLLER,
    ...NODES,
    verbs: ["get", "patch", "delete"],
    why: "adds and removes the shutdown taint, and deletes the Nodes of deleted instances",
  },
  {
    of: SERVICE_LB_CONTROLLER,
    group: "",
    resource: "services/status",
    verbs: ["patch"],
    why: "writes the address and the condition, and adds and removes the finalizer",
  },
  { of: NODE_ROUTE_CONTROLLER, ...NODE_STATUS, verbs: ["patch"], why: "writes the condition NetworkUnavailable" },
  {
    of: NODE_IPAM_CONTROLLER,
    ...NODES,
    verbs: ["get", "list", "patch"],
    why: "reads the allocated pod CIDRs, and assigns pod CIDRs to Nodes",
  },
  {
    of: PERSISTENT_VOLUME_LABEL_CONTROLLER,
    group: "",
    resource: "persistentvolumes",
    verbs: ["list", "watch", "patch"],
    why: "adds the labels and the node affinity of their zone to volumes",
  },
  { ...CERTIFICATES, resource: "certificatesigningrequests", verbs: ["list", "watch"], why: "watches requests" },
  { ...CERTIFICATES, resource: "certificatesigningrequests/approval", verbs: ["patch"], why: "approves requests" },
  {
    of: KUBELET_SERVING_CSR_APPROVER,
    group: "networking.k8s.io",
    resource: "servicecidrs",
    verbs: ["list"],
    why: "certifies no Service IPs",
  },
  {
    of: KUBELET_SERVING_CSR_APPROVER,
    group: "discovery.k8s.io",
    resource: "endpointslices",
    names: ["kubernetes"],
    verbs: ["get"],
    why: "certifies no addresses of API servers",
  },
  {
    ...CERTIFICATES,
    resource: "signers",
    names: [KUBELET_SERVING_SIGNER],
    verbs: ["approve"],
    why: "approves requests to this signer only",
  },
];

const READING: ReadonlySet<Verb> = new Set(["get", "list", "watch"]);

/** Permissions in observe mode: those above that read, and the reviews of the secure port, which the API server does not store. */
export const OBSERVER_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(
  ({ of }) => of !== LEADER_ELECTION && of !== LEADER_MIGRATION,
).flatMap((permission) => {
  const verbs = permission.of === SERVING ? permission.verbs : permission.verbs.filter((verb) => READING.has(verb));
  return verbs.length === 0 ? [] : [{ ...permission, of: OBSERVER, verbs }];
});
