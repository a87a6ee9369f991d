import {
  AFFINITY,
  CONTAINER_SECURITY_CONTEXT,
  ENV,
  ENV_FROM,
  LABELS,
  POD_SECURITY_CONTEXT,
  RESOURCES,
  TOLERATIONS,
  UPDATE_STRATEGY,
  VOLUME_MOUNTS,
  VOLUMES,
} from "./kubernetes-types.ts";
import { BOOLEAN, oneOf, TEXT, type Values } from "./value.ts";

/** The user of the images. */
const USER = 65_532;

const HARDENED = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/** Where the pod runs, and what its containers may. */
export const POD_VALUES: Values = {
  hostNetwork: {
    about: "Use the host network, which works before the pod network does.",
    default: true,
    schema: BOOLEAN,
  },
  dnsPolicy: {
    about: "Default: the host's DNS with `hostNetwork`, otherwise the cluster's.",
    default: "",
    schema: oneOf("", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
  },
  controlPlaneNodes: { about: "Run on control-plane nodes only.", default: true, schema: BOOLEAN },
  nodeSelector: { about: "Labels of the nodes to run on.", default: {}, schema: LABELS },
  affinity: {
    about: "Replaces the affinity for `controlPlaneNodes` and for one replica per node.",
    default: {},
    schema: AFFINITY,
  },
  tolerations: {
    about:
      "All taints, because other programs that end theirs may wait for this pod. The pod leaves an unreachable node after 5 minutes.",
    default: [
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      { operator: "Exists" },
    ],
    schema: TOLERATIONS,
  },
  priorityClassName: {
    about: "Prevents preemption by other pods on a full node.",
    default: "system-cluster-critical",
    schema: TEXT,
  },
  updateStrategy: {
    about: "Default: one pod after the other. `{type: Recreate}` if two providers must not run at the same time.",
    default: {},
    schema: UPDATE_STRATEGY,
  },
  terminationGracePeriodSeconds: {
    about: "The controller needs at most 28 s, then a provider 10 s.",
    default: 45,
    schema: { type: "integer", minimum: 30 },
  },
  podDisruptionBudget: {
    enabled: {
      about: "With more than one replica of a Deployment, drains evict one at a time.",
      default: true,
      schema: BOOLEAN,
    },
  },
  resources: {
    about:
      "Resources of the controller. It was measured at 123 MiB with 5,000 nodes, and 189 MiB with 15,000. No CPU limit: a throttled leader loses its Lease.",
    default: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
    schema: RESOURCES,
  },
  providerResources: {
    about: "Resources of each provider without its own. The providers of this repository use 70 MiB when idle.",
    default: { requests: { cpu: "20m", memory: "80Mi" }, limits: { memory: "256Mi" } },
    schema: RESOURCES,
  },
  env: { about: "Environment of the controller.", default: [], schema: ENV },
  envFrom: { about: "Environment of the controller from whole ConfigMaps and Secrets.", default: [], schema: ENV_FROM },
  volumes: { about: "Additional volumes of the pod, for `volumeMounts`.", default: [], schema: VOLUMES },
  volumeMounts: { about: "Mounts of `volumes` into the controller.", default: [], schema: VOLUME_MOUNTS },
  podLabels: { about: "Additional labels of the pod.", default: {}, schema: LABELS },
  podAnnotations: { about: "Annotations of the pod.", default: {}, schema: LABELS },
  podSecurityContext: {
    about: "Security context of the pod. `fsGroup` is the group of the sockets.",
    default: { runAsNonRoot: true, fsGroup: USER, seccompProfile: { type: "RuntimeDefault" } },
    schema: POD_SECURITY_CONTEXT,
  },
  securityContext: {
    about: "Security context of the controller, and of each provider without its own.",
    default: HARDENED,
    schema: CONTAINER_SECURITY_CONTEXT,
  },
};
