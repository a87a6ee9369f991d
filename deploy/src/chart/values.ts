import { PULL_SECRETS } from "./kubernetes-types.ts";
import { POD_VALUES } from "./pod-values.ts";
import { PROVIDER_FIELDS } from "./provider-fields.ts";
import { SURROUNDING_VALUES } from "./surrounding-values.ts";
import { BOOLEAN, FILLED, listOf, oneOf, PORT, TEXT, DNS_LABEL, type Schema, type Values } from "./value.ts";

const PROGRAMS: Values = {
  kind: {
    about:
      "Kind of workload: `Deployment`; `DaemonSet`, with a replica on each control-plane node; or `StaticPod`, a Pod for a kubelet's manifest directory, rendered with `helm template`.",
    default: "Deployment",
    schema: oneOf("Deployment", "DaemonSet", "StaticPod"),
  },
  replicas: {
    about: "Replicas of a Deployment, each on a separate node. One is the leader, the others are standbys.",
    default: 2,
    schema: { type: "integer", minimum: 0, maximum: 20 },
  },
  name: {
    about: "Name of the objects, including the service account.",
    default: "cloud-controller-manager",
    schema: DNS_LABEL,
  },
  image: {
    registry: {
      about:
        "Registry and path, such as `registry.example.com/cloudwire`. Required. Also used for the images of providers.",
      default: "",
      schema: TEXT,
    },
    repository: { about: "Name of the controller's image.", default: "cloudwire-controller-manager", schema: FILLED },
    tag: { about: "Default: the chart's appVersion.", default: "", schema: TEXT },
    digest: {
      about: "Used instead of the tag: `sha256:…`.",
      default: "",
      schema: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
    },
    pullPolicy: {
      about: "Image pull policy of the container.",
      default: "IfNotPresent",
      schema: oneOf("Always", "IfNotPresent", "Never"),
    },
  },
  imagePullSecrets: { about: "Secrets for the registry, as `{name}`.", default: [], schema: PULL_SECRETS },
  providers: {
    about:
      "One sidecar per cloud. The first one serves Services without loadBalancerClass. For remote providers set their addresses in `config.Cloudwire.Provider`.",
    default: [],
    schema: { type: "array" },
    items: PROVIDER_FIELDS,
  },
  nativeSidecars: {
    about:
      "Start sidecars before the controller and stop them after it, so that its last changes reach the cloud. `false`: normal containers, for Kubernetes before 1.29 and for `podman kube play`.",
    default: true,
    schema: BOOLEAN,
  },
};

const CONNECTION: Values = {
  extraArgs: {
    about: "Flags of the controller, which take precedence over `config`.",
    default: [],
    schema: listOf({ type: "string", pattern: "^--?[a-z]" }),
  },
  apiServer: {
    host: {
      about:
        "Address of an API server or of its load balancer. Set it if the Service `kubernetes`, which needs kube-proxy, does not work before this pod runs.",
      default: "",
      schema: TEXT,
    },
    port: { about: "Its port.", default: 6443, schema: PORT },
  },
  kubeconfig: {
    hostPath: {
      about:
        "A kubeconfig on the host, readable by user or group 65532, instead of the service account token. Required for a static pod.",
      default: "",
      schema: { type: "string", pattern: "^(/.+)?$" },
    },
    secretName: { about: "Likewise in a Secret, as its key `kubeconfig`.", default: "", schema: TEXT },
  },
};

/** Every value of the chart, made of which are values.yaml, values.schema.json and the table of the README. */
export const valuesOf = (configSchema: Schema): Values => ({
  ...PROGRAMS,
  config: {
    about:
      "Settings of the controller, in the format of its [configuration file](../../../docs/reference/configuration.md), without apiVersion and kind. Changes of reloadable settings need no restart.",
    default: {},
    schema: configSchema,
  },
  ...CONNECTION,
  ...POD_VALUES,
  ...SURROUNDING_VALUES,
});
