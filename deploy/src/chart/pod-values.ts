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
    about: "Run in the host's network, which is there before the network of pods is.",
    default: true,
    schema: BOOLEAN,
  },
  dnsPolicy: {
    about: "Default: the host's DNS in the host's network, else the cluster's.",
    default: "",
    schema: oneOf("", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
  },
  controlPlaneNodes: { about: "Run on nodes of the control plane only.", default: true, schema: BOOLEAN },
  nodeSelector: { about: "Labels of the nodes to run on.", default: {}, schema: LABELS },
  affinity: {
    about: "Instead of that for `controlPlaneNodes`, and that of one replica a node.",
    default: {},
    schema: AFFINITY,
  },
  tolerations: {
    about: "Taints of nodes that wait for this very pod, and of the control plane.",
    default: [
      { key: "node.cloudprovider.kubernetes.io/uninitialized", operator: "Exists", effect: "NoSchedule" },
      { key: "node.kubernetes.io/not-ready", operator: "Exists" },
      { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
    ],
    schema: TOLERATIONS,
  },
  priorityClassName: {
    about: "So that nothing else takes its place on a node that is full.",
    default: "system-cluster-critical",
    schema: TEXT,
  },
  updateStrategy: {
    about: "Default: one pod after the other. `{type: Recreate}` where two providers must not run at once.",
    default: {},
    schema: UPDATE_STRATEGY,
  },
  terminationGracePeriodSeconds: {
    about: "The controller takes 28 s at most, a provider 10 s after it.",
    default: 45,
    schema: { type: "integer", minimum: 30 },
  },
  podDisruptionBudget: {
    enabled: {
      about: "With more than one replica of a Deployment, drains take one at a time.",
      default: true,
      schema: BOOLEAN,
    },
  },
  resources: {
    about:
      "Of the controller. 123 MiB were measured with 5,000 nodes, 189 MiB with 15,000. No limit for the processor: a leader that is held up loses its Lease.",
    default: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
    schema: RESOURCES,
  },
  providerResources: {
    about: "Of each provider that has none of its own. Ours hold 70 MiB at rest.",
    default: { requests: { cpu: "20m", memory: "80Mi" }, limits: { memory: "256Mi" } },
    schema: RESOURCES,
  },
  env: { about: "Environment of the controller.", default: [], schema: ENV },
  envFrom: { about: "Likewise from whole ConfigMaps and Secrets.", default: [], schema: ENV_FROM },
  volumes: { about: "Further volumes of the pod, for `volumeMounts`.", default: [], schema: VOLUMES },
  volumeMounts: { about: "Mounts of them into the controller.", default: [], schema: VOLUME_MOUNTS },
  podLabels: { about: "Further labels of the pod.", default: {}, schema: LABELS },
  podAnnotations: { about: "Annotations of the pod.", default: {}, schema: LABELS },
  podSecurityContext: {
    about: "Of the pod. `fsGroup` is the group of the sockets.",
    default: { runAsNonRoot: true, fsGroup: USER, seccompProfile: { type: "RuntimeDefault" } },
    schema: POD_SECURITY_CONTEXT,
  },
  securityContext: {
    about: "Of the controller, and of each provider that has none of its own.",
    default: HARDENED,
    schema: CONTAINER_SECURITY_CONTEXT,
  },
};
