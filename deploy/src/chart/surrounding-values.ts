import { EGRESS, LABELS, PEERS, SUBJECTS } from "./kubernetes-types.ts";
import { BOOLEAN, FILLED, listOf, oneOf, TEXT, DNS_LABEL, type Values } from "./value.ts";

/** The objects around the pod. */
export const SURROUNDING_VALUES: Values = {
  serviceAccount: {
    create: { about: "Create the service account.", default: true, schema: BOOLEAN },
    annotations: { about: "Its annotations.", default: {}, schema: LABELS },
  },
  rbac: {
    create: {
      about:
        "Create roles for the parts that `config` enables, and no others ([permissions](../../../docs/reference/permissions.md)).",
      default: true,
      schema: BOOLEAN,
    },
    namePrefix: {
      about: "Prefix of the names of roles. Use another one for a second release in a cluster.",
      default: "cloudwire",
      schema: DNS_LABEL,
    },
  },
  statusPage: {
    subjects: {
      about:
        "RBAC subjects with access to [the status page](../../../docs/guides/status-page.md) and to the commands of `cloudwire` that read, such as groups of operators.",
      default: [],
      schema: SUBJECTS,
    },
  },
  metrics: {
    service: {
      about: "Create a headless Service for the endpoints and metrics of the pods.",
      default: true,
      schema: BOOLEAN,
    },
    subjects: {
      about: "RBAC subjects with access to `/metrics`, such as Prometheus' service account.",
      default: [],
      schema: SUBJECTS,
    },
    serviceMonitor: {
      enabled: { about: "Create a ServiceMonitor for Prometheus Operator.", default: false, schema: BOOLEAN },
      labels: { about: "Labels by which Prometheus selects it.", default: {}, schema: LABELS },
      interval: {
        about: "Scrape interval.",
        default: "30s",
        schema: { type: "string", pattern: "^[0-9]+(ms|s|m)$" },
      },
    },
    prometheusRule: {
      enabled: {
        about: "Create a PrometheusRule with [the alerts](../../../docs/reference/alerts.md), for Prometheus Operator.",
        default: false,
        schema: BOOLEAN,
      },
      labels: { about: "Labels by which Prometheus selects it.", default: {}, schema: LABELS },
      runbookBaseUrl: {
        about: "URL of `docs/runbooks`, for the links in alerts. Empty: alerts have the path of the file.",
        default: "",
        schema: TEXT,
      },
    },
    dashboards: {
      enabled: {
        about: "Create ConfigMaps with the dashboards, for Grafana's sidecar.",
        default: false,
        schema: BOOLEAN,
      },
      labels: {
        about: "Labels by which the sidecar selects them.",
        default: { grafana_dashboard: "1" },
        schema: LABELS,
      },
    },
  },
  networkPolicy: {
    enabled: {
      about:
        "Without `hostNetwork`: allow ingress to the ports below. NetworkPolicies do not apply to pods in the host network.",
      default: true,
      schema: BOOLEAN,
    },
    from: { about: "Peers with access to the endpoints and metrics; empty: all.", default: [], schema: PEERS },
    egress: {
      about: "Allowed egress; empty: everything. The pod needs the API server, the cloud and DNS.",
      default: [],
      schema: EGRESS,
    },
  },
  webhook: {
    enabled: {
      about:
        "Label PersistentVolumes during admission ([details](../../../docs/explanation/persistent-volume-labels.md)). Needs a certificate for `<name>-webhook.<namespace>.svc`.",
      default: false,
      schema: BOOLEAN,
    },
    secretName: {
      about: "Secret of type kubernetes.io/tls with the certificate. Default: `<name>-webhook`.",
      default: "",
      schema: TEXT,
    },
    caBundle: {
      about: "CA of the certificate, PEM in base64. Empty if an annotation injects it.",
      default: "",
      schema: { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$" },
    },
    annotations: {
      about:
        "Annotations of the MutatingWebhookConfiguration, such as cert-manager's `cert-manager.io/inject-ca-from`.",
      default: {},
      schema: LABELS,
    },
    csiDrivers: { about: "CSI drivers of the volumes that the webhook handles.", default: [], schema: listOf(FILLED) },
    inTreePlugins: {
      about: "In-tree volume types of the volumes that the webhook handles.",
      default: [],
      schema: listOf(oneOf("awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "vsphereVolume")),
    },
    failurePolicy: {
      about: "`Fail`: no volume without its zone; `Ignore`: a volume without its zone rather than none.",
      default: "Fail",
      schema: oneOf("Fail", "Ignore"),
    },
  },
};
