import type { Option, OptionTable } from "./option.ts";

/** Of every command. */
export const COMMON_OPTIONS: OptionTable = {
  color: {
    type: "choice",
    valueName: "when",
    choices: ["auto", "always", "never"],
    default: "auto",
    help: "Colors: auto means on a terminal, unless NO_COLOR is set.",
  },
  help: { type: "flag", letter: "h", help: "Explains the command." },
};

/** Of commands whose answer a program may want to read. */
export const OUTPUT_OPTIONS: OptionTable = {
  output: {
    type: "choice",
    letter: "o",
    valueName: "format",
    choices: ["text", "json", "yaml"],
    default: "text",
    help: "json and yaml have all that the controller answers, as it answers it.",
  },
};

/** Of commands that can go on. */
export const WATCH_OPTIONS: OptionTable = {
  watch: {
    type: "flag",
    letter: "w",
    help: "Asks again and again: draws anew on a terminal; otherwise writes what changed, one document a change.",
  },
  interval: {
    type: "duration",
    valueName: "time",
    default: "2s",
    help: "With --watch: how long between two questions.",
  },
};

/** Of commands that ask the API server. */
export const KUBECONFIG_OPTIONS: OptionTable = {
  kubeconfig: {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "The kubeconfig. Default: what KUBECONFIG names, else ~/.kube/config, else the pod's own service account.",
  },
  context: { type: "text", valueName: "name", help: "Of the kubeconfig. Default: its current one." },
};

export const TIMEOUT_OPTION: Option = {
  type: "duration",
  valueName: "time",
  default: "15s",
  help: "How long an answer of the controller may take to begin, and to go on.",
};

/** Of commands that ask a controller: which, and as whom. */
export const CONNECTION_OPTIONS: OptionTable = {
  ...KUBECONFIG_OPTIONS,
  namespace: {
    type: "text",
    letter: "n",
    valueName: "name",
    default: "kube-system",
    help: "Where the controller runs and keeps its Lease.",
  },
  lease: {
    type: "text",
    valueName: "name",
    default: "cloud-controller-manager",
    help: "The Lease that says who leads (--leader-elect-resource-name of the controller).",
  },
  pod: { type: "text", valueName: "name", help: "Asks the controller in this pod, and not the one that leads." },
  port: {
    type: "number",
    most: 65_535,
    valueName: "number",
    default: "10258",
    help: "Of the controller's pages in its pod (--secure-port of the controller).",
  },
  "service-account": {
    type: "text",
    valueName: "name",
    help: "Asks the controller as this ServiceAccount of --namespace, by a token of ten minutes, and not with the credentials of the kubeconfig.",
  },
  server: {
    type: "text",
    valueName: "url",
    help: "Asks a controller at this address, https://HOST:PORT, and looks for none through the API server.",
  },
  "token-file": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "A bearer token for the controller; - is standard input. Default: what the kubeconfig has; with --server nothing.",
  },
  "client-certificate": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "A certificate for the controller, PEM. Default: what the kubeconfig has; with --server nothing.",
  },
  "client-key": { type: "text", valueName: "file", completes: "files", help: "Its key, PEM." },
  "certificate-authority": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: "Authorities of the controller's certificate, PEM. Default: the system's with --server; through the API server any certificate is taken.",
  },
  "tls-server-name": {
    type: "text",
    valueName: "name",
    help: "The name that the controller's certificate is for. Default: the host of --server; localhost through the API server.",
  },
  "insecure-skip-tls-verify": { type: "flag", help: "Takes any certificate of the controller's with --server." },
  timeout: TIMEOUT_OPTION,
};
