import { PULL_SECRETS } from "./kubernetes-types.ts";
import { POD_VALUES } from "./pod-values.ts";
import { PROVIDER_FIELDS } from "./provider-fields.ts";
import { SURROUNDING_VALUES } from "./surrounding-values.ts";
import { BOOLEAN, FILLED, listOf, oneOf, PORT, TEXT, DNS_LABEL, type Schema, type Values } from "./value.ts";

const PROGRAMS: Values = {
  kind: {
    about:
      "What runs the pod: `Deployment`; `DaemonSet`, a replica on each node of the control plane; or `StaticPod`, a Pod for a kubelet's directory of manifests, to be rendered with `helm template`.",
    default: "Deployment",
    schema: oneOf("Deployment", "DaemonSet", "StaticPod"),
  },
  replicas: {
    about: "Of a Deployment, each on a node of its own. One works, the others stand by.",
    default: 2,
    schema: { type: "integer", minimum: 0, maximum: 20 },
  },
  name: {
    about: "What the objects are called, the service account too.",
    default: "cloud-controller-manager",
    schema: DNS_LABEL,
  },
  image: {
    registry: {
      about:
        "Registry, with its directory, such as `registry.example.com/cloudwire`. There is no default one; providers' images come from it, too.",
      default: "",
      schema: TEXT,
    },
    repository: { about: "Name of the controller's image.", default: "cloudwire-controller-manager", schema: FILLED },
    tag: { about: "Default: the chart's appVersion.", default: "", schema: TEXT },
    digest: {
      about: "Instead of a tag: `sha256:…`.",
      default: "",
      schema: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
    },
    pullPolicy: {
      about: "As in a container.",
      default: "IfNotPresent",
      schema: oneOf("Always", "IfNotPresent", "Never"),
    },
  },
  imagePullSecrets: { about: "Secrets for the registry, as `{name}`.", default: [], schema: PULL_SECRETS },
  providers: {
    about:
      "The clouds, a sidecar for each. The first one has Services without loadBalancerClass. Providers elsewhere are addresses in `config.Cloudwire.Provider`.",
    default: [],
    schema: { type: "array" },
    items: PROVIDER_FIELDS,
  },
  nativeSidecars: {
    about:
      "Start sidecars before the controller and end them after it, so that its last work still reaches the cloud. `false`: containers like any other, for Kubernetes before 1.29 and for `podman kube play`.",
    default: true,
    schema: BOOLEAN,
  },
};

const CONNECTION: Values = {
  extraArgs: {
    about: "Flags of the controller, which come before `config`.",
    default: [],
    schema: listOf({ type: "string", pattern: "^--?[a-z]" }),
  },
  apiServer: {
    host: {
      about:
        "Address of an API server, or of the load balancer before them. Give it where the Service `kubernetes` does not work before this pod does: it needs kube-proxy.",
      default: "",
      schema: TEXT,
    },
    port: { about: "Its port.", default: 6443, schema: PORT },
  },
  kubeconfig: {
    hostPath: {
      about:
        "A kubeconfig on the host, readable by user or group 65532, instead of the service account's token. A static pod needs one.",
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
      "The controller's settings, in the shape of its [configuration file](../../../docs/reference/configuration.md), without apiVersion and kind. Changes of what is reloadable restart nothing.",
    default: {},
    schema: configSchema,
  },
  ...CONNECTION,
  ...POD_VALUES,
  ...SURROUNDING_VALUES,
});
