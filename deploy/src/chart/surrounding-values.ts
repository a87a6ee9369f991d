import { EGRESS, LABELS, PEERS, SUBJECTS } from "./kubernetes-types.ts";
import { BOOLEAN, FILLED, listOf, oneOf, TEXT, DNS_LABEL, type Values } from "./value.ts";

/** The objects around the pod. */
export const SURROUNDING_VALUES: Values = {
  serviceAccount: {
    create: { about: "Make the service account.", default: true, schema: BOOLEAN },
    annotations: { about: "Its annotations.", default: {}, schema: LABELS },
  },
  rbac: {
    create: {
      about:
        "Make the roles of what `config` turns on, and of nothing else ([rights](../../../docs/reference/permissions.md)).",
      default: true,
      schema: BOOLEAN,
    },
    namePrefix: {
      about: "What names of roles begin with; another one for a second release in a cluster.",
      default: "cloudwire",
      schema: DNS_LABEL,
    },
  },
  statusPage: {
    subjects: {
      about:
        "Who may read [the status page](../../../docs/guides/status-page.md) and what it shows, by browser or with `cloudwire`, as subjects of a binding: groups of operators.",
      default: [],
      schema: SUBJECTS,
    },
  },
  metrics: {
    service: {
      about: "A Service without address before the pods' ports for pages and figures.",
      default: true,
      schema: BOOLEAN,
    },
    subjects: {
      about: "Who may read `/metrics`, as subjects of a binding: Prometheus' service account.",
      default: [],
      schema: SUBJECTS,
    },
    serviceMonitor: {
      enabled: { about: "A ServiceMonitor for Prometheus Operator.", default: false, schema: BOOLEAN },
      labels: { about: "Labels that Prometheus selects it by.", default: {}, schema: LABELS },
      interval: {
        about: "Between two scrapes.",
        default: "30s",
        schema: { type: "string", pattern: "^[0-9]+(ms|s|m)$" },
      },
    },
    prometheusRule: {
      enabled: {
        about: "A PrometheusRule with [the alerts](../../../docs/reference/alerts.md), for Prometheus Operator.",
        default: false,
        schema: BOOLEAN,
      },
      labels: { about: "Labels that Prometheus selects it by.", default: {}, schema: LABELS },
      runbookBaseUrl: {
        about: "Where `docs/runbooks` is to be read; alerts link to its pages. Empty: they name the file.",
        default: "",
        schema: TEXT,
      },
    },
    dashboards: {
      enabled: { about: "ConfigMaps with the dashboards, for Grafana's sidecar.", default: false, schema: BOOLEAN },
      labels: {
        about: "Labels that the sidecar selects them by.",
        default: { grafana_dashboard: "1" },
        schema: LABELS,
      },
    },
  },
  networkPolicy: {
    enabled: {
      about:
        "Without `hostNetwork`: let in what the ports below are for. Pods in the host's network are beyond any NetworkPolicy.",
      default: true,
      schema: BOOLEAN,
    },
    from: { about: "Who may read pages and figures; empty: everybody.", default: [], schema: PEERS },
    egress: {
      about: "Where the pod may connect to; empty: anywhere. It needs the API server, the cloud and DNS.",
      default: [],
      schema: EGRESS,
    },
  },
  webhook: {
    enabled: {
      about:
        "Label PersistentVolumes while they are created ([how](../../../docs/explanation/persistent-volume-labels.md)). Needs a certificate for `<name>-webhook.<namespace>.svc`.",
      default: false,
      schema: BOOLEAN,
    },
    secretName: {
      about: "Secret of type kubernetes.io/tls with it. Default: `<name>-webhook`.",
      default: "",
      schema: TEXT,
    },
    caBundle: {
      about: "Authority that has signed it, PEM in base64. Empty where an annotation has it filled in.",
      default: "",
      schema: { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$" },
    },
    annotations: {
      about: "Of the MutatingWebhookConfiguration, such as cert-manager's `cert-manager.io/inject-ca-from`.",
      default: {},
      schema: LABELS,
    },
    csiDrivers: { about: "CSI drivers of the volumes that it is asked about.", default: [], schema: listOf(FILLED) },
    inTreePlugins: {
      about: "Former in-tree volume types of the volumes that it is asked about.",
      default: [],
      schema: listOf(oneOf("awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "vsphereVolume")),
    },
    failurePolicy: {
      about: "`Fail`: no volume without its zone; `Ignore`: rather that than no volume.",
      default: "Fail",
      schema: oneOf("Fail", "Ignore"),
    },
  },
};
