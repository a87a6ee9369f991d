import type { RenderOptions } from "@cloudwire/deploy/chart";

const SIMULATED = {
  name: "simulated",
  secrets: [{ name: "simcloud", mountPath: "/run/secrets/simcloud" }],
  httpPort: 9102,
};
const WEST = {
  name: "west",
  image: { repository: "acme-provider", tag: "7" },
  args: ["--region=west"],
  envFrom: [{ secretRef: { name: "west-credentials", optional: true } }],
  files: { "acme.yaml": "region: west\n" },
  httpPort: 9103,
};

const everythingOn = {
  Generic: {
    Controllers: ["*", "nodeipam", "persistent-volume-label-controller", "kubelet-serving-csr-approver"],
    LeaderMigrationEnabled: true,
  },
  KubeCloudShared: { AllocateNodeCIDRs: true, ClusterCIDR: "10.244.0.0/16" },
};

/** Values as operators may have them, by what is special about them. */
export const CHART_CASES: Readonly<Record<string, RenderOptions>> = {
  "a Deployment": { values: { providers: [SIMULATED] } },
  "a DaemonSet": {
    values: { kind: "DaemonSet", providers: [SIMULATED], image: { registry: "registry.example.com/cloudwire" } },
  },
  "a static pod": {
    values: {
      kind: "StaticPod",
      providers: [{ name: "simulated", httpPort: 9102 }],
      kubeconfig: { hostPath: "/etc/kubernetes/cloud-controller-manager.conf" },
      config: { ...everythingOn, NodeStatusUpdateFrequency: "10m" },
    },
  },
  "two sidecars, and a provider elsewhere": {
    values: {
      providers: [SIMULATED, WEST],
      config: { Cloudwire: { Provider: ["far=tcp://192.0.2.7:9443"], ProviderPlaintext: ["far"] } },
    },
  },
  "containers instead of native sidecars": { values: { nativeSidecars: false, providers: [SIMULATED, WEST] } },
  "the webhook": {
    values: {
      kind: "DaemonSet",
      providers: [SIMULATED],
      webhook: { enabled: true, csiDrivers: ["csi.example.com"], inTreePlugins: ["cinder"], caBundle: "Y2E=" },
    },
  },
  "no leader election": {
    values: { replicas: 1, providers: [SIMULATED], config: { Generic: { LeaderElection: { LeaderElect: false } } } },
  },
  "the pod network": {
    values: {
      hostNetwork: false,
      controlPlaneNodes: false,
      providers: [SIMULATED, WEST],
      networkPolicy: { from: [{ namespaceSelector: {} }], egress: [{ ports: [{ port: 443 }, { port: 6443 }] }] },
      metrics: { subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace: "monitoring" }] },
      statusPage: { subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "operators" }] },
    },
  },
  "an API server by its address, and all controllers": {
    values: { providers: [SIMULATED], apiServer: { host: "192.0.2.10" }, config: everythingOn },
  },
  "a kubeconfig, and another Lease": {
    values: {
      providers: [SIMULATED],
      kubeconfig: { secretName: "ccm-kubeconfig" },
      rbac: { namePrefix: "second" },
      config: { Generic: { LeaderElection: { ResourceName: "second", ResourceNamespace: "default" } } },
    },
  },
  "example aws": { example: "aws" },
  "example baremetal": { example: "baremetal" },
  "example openstack": { example: "openstack" },
  "example simulated": { example: "simulated" },
};
