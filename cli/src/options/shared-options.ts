import type { Option, OptionTable } from "./option.ts";

export const COMMON_OPTIONS: OptionTable = {
  color: {
    type: "choice",
    valueName: "when",
    choices: ["auto", "always", "never"],
    default: "auto",
    help: "Color output: auto means on a terminal, unless NO_COLOR is set.",
  },
  help: { type: "flag", letter: "h", help: "Show this help." },
};

export const OUTPUT_OPTIONS: OptionTable = {
  output: {
    type: "choice",
    letter: "o",
    valueName: "format",
    choices: ["text", "json", "yaml"],
    default: "text",
    help: "json and yaml contain the complete response of the controller.",
  },
};

export const WATCH_OPTIONS: OptionTable = {
  watch: {
    type: "flag",
    letter: "w",
    help: "Refresh until interrupted: redraw on a terminal, otherwise write one document per change.",
  },
  interval: {
    type: "duration",
    valueName: "time",
    default: "2s",
    help: "With --watch: time between two requests.",
  },
};

/** For commands that send requests to the API server. */
export const KUBECONFIG_OPTIONS: OptionTable = {
  kubeconfig: {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "Path of the kubeconfig. Default: KUBECONFIG, then ~/.kube/config, then the service account of the pod.",
  },
  context: { type: "text", valueName: "name", help: "Context of the kubeconfig. Default: the current context." },
};

export const TIMEOUT_OPTION: Option = {
  type: "duration",
  valueName: "time",
  default: "15s",
  help: "Maximum time until a response starts, and between parts of it.",
};

/** For commands that send requests to a controller: its address and the credentials. */
export const CONNECTION_OPTIONS: OptionTable = {
  ...KUBECONFIG_OPTIONS,
  namespace: {
    type: "text",
    letter: "n",
    valueName: "name",
    default: "kube-system",
    help: "Namespace of the controller and its Lease.",
  },
  lease: {
    type: "text",
    valueName: "name",
    default: "cloud-controller-manager",
    help: "Name of the leader election Lease (--leader-elect-resource-name of the controller).",
  },
  pod: { type: "text", valueName: "name", help: "Use the controller in this pod instead of the leader." },
  port: {
    type: "number",
    max: 65_535,
    valueName: "number",
    default: "10258",
    help: "Port of the controller in its pod (--secure-port of the controller).",
  },
  "service-account": {
    type: "text",
    valueName: "name",
    help: "Authenticate to the controller as this ServiceAccount in --namespace, with a token for ten minutes, instead of with the credentials of the kubeconfig.",
  },
  server: {
    type: "text",
    valueName: "url",
    help: "Use the controller at this address, https://HOST:PORT, without the API server.",
  },
  "token-file": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "Bearer token for the controller; - is standard input. Default: that of the kubeconfig; none with --server.",
  },
  "client-certificate": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "Client certificate for the controller, PEM. Default: that of the kubeconfig; none with --server.",
  },
  "client-key": { type: "text", valueName: "file", completes: "files", help: "Key of the client certificate, PEM." },
  "certificate-authority": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "CA certificates for the controller, PEM. Default: those of the system with --server; through the API server, the certificate is not verified.",
  },
  "tls-server-name": {
    type: "text",
    valueName: "name",
    help: "Expected name in the controller's certificate. Default: the host of --server; localhost through the API server.",
  },
  "insecure-skip-tls-verify": { type: "flag", help: "Do not verify the controller's certificate with --server." },
  timeout: TIMEOUT_OPTION,
};
