/** An error code, for docs/reference/cli.md and docs/reference/reasons.md. */
export interface ErrorRow {
  /** A sentence. */
  readonly cause: string;
  /** Instructions. */
  readonly remedy: string;
}

/** All errors that a user can fix. Codes are not renamed: scripts match them. */
export const ERROR_CODES = {
  INVALID_COMMAND_LINE: {
    cause: "A command, an option, its value or an operand is invalid, or options conflict. Nothing was done.",
    remedy: "Correct the command line: `--help` lists the valid forms.",
  },
  KUBECONFIG_INVALID: {
    cause: "The kubeconfig is missing, unreadable or invalid, or does not have the context.",
    remedy: "Specify another one with `--kubeconfig` and `--context`, or connect to the controller with `--server`.",
  },
  CREDENTIALS_UNAVAILABLE: {
    cause:
      "The credential plugin of the kubeconfig failed, the token file is empty, or the ServiceAccount does not exist.",
    remedy:
      "Check that `kubectl get nodes` works with the same kubeconfig, or correct the option that the message names.",
  },
  API_SERVER_UNREACHABLE: {
    cause: "The API server did not respond, or its certificate is not trusted.",
    remedy:
      "Check address and `certificate-authority` in the kubeconfig, or connect to the controller with `--server`.",
  },
  API_SERVER_UNAUTHORIZED: {
    cause: "The API server rejected the credentials of the kubeconfig (401).",
    remedy: "Renew the credentials of the kubeconfig.",
  },
  API_SERVER_FORBIDDEN: {
    cause: "RBAC does not grant you a permission at the API server (403).",
    remedy: "Add the rule in the message to a Role or ClusterRole that is bound to you.",
  },
  API_SERVER_ERROR: {
    cause: "The API server returned another error, or an invalid response.",
    remedy: "Check the health of the API server, and proxies between you and it.",
  },
  LEADER_NOT_FOUND: {
    cause: "The Lease does not exist, no controller holds it, or the pod of the leader cannot be determined.",
    remedy: "Check `--namespace` and `--lease`, or select a controller with `--pod` or `--server`.",
  },
  CONTROLLER_UNREACHABLE: {
    cause: "The controller did not respond, or its certificate is not trusted.",
    remedy:
      "Check that the controller runs, and `--server`, `--pod` and `--port`. For its certificate, use `--certificate-authority` and `--tls-server-name`.",
  },
  CONTROLLER_UNAUTHORIZED: {
    cause: "The controller rejected your credentials (401).",
    remedy: "Specify a token (`--token-file`, `--service-account`) or a client certificate (`--client-certificate`).",
  },
  CONTROLLER_FORBIDDEN: {
    cause: "RBAC does not allow you to read the endpoint of the controller (403).",
    remedy: "Add the rule in the message to a ClusterRole that is bound to you.",
  },
  CONTROLLER_ERROR: {
    cause: "The controller rejected the request, returned an error, or its response was cut off.",
    remedy: "Follow the message; if it persists, check the log of the controller.",
  },
  VERSION_MISMATCH: {
    cause:
      "The controller does not have the endpoint, or its response has another format: the versions of both programs differ.",
    remedy: "Use the version of `cloudwire` that matches the controller (`/version`).",
  },
  OBJECT_NOT_FOUND: {
    cause: "The object does not exist, and the controller has no history of it.",
    remedy: "Check kind, namespace and name: `cloudwire list` shows all objects.",
  },
  NODE_NOT_BLOCKED: {
    cause: "The Node is not blocked by the deletion circuit breaker, so there is nothing to approve.",
    remedy: "`cloudwire explain node/NAME` shows why the Node is not deleted.",
  },
  CONFIRMATION_REQUIRED: {
    cause: "The command requires confirmation, and standard input is not a terminal.",
    remedy: "Add `--yes`.",
  },
  FILE_UNREADABLE: {
    cause: "A file on the command line cannot be read.",
    remedy: "Check path and permissions of the file.",
  },
  FILE_NOT_WRITABLE: {
    cause: "The output file exists already, or cannot be created.",
    remedy: "Specify another path, or remove the file.",
  },
  ADDRESS_UNAVAILABLE: {
    cause: "The command cannot listen on the address.",
    remedy: "Specify another port, address or socket path.",
  },
  NOTHING_TO_COLLECT: {
    cause: "No part of the support bundle is available.",
    remedy: "Fix the errors in the message, or include files with `--log`, `--audit-log` or `--recording`.",
  },
  RECORDING_INVALID: {
    cause: "The file is not a recording, has a newer format, or contains an unknown method or code.",
    remedy:
      "Use a file from `--record-provider`, and a version of `cloudwire` at least as new as the controller that wrote it.",
  },
  NOT_IN_RECORDING: {
    cause: "The recording does not have the call, provider or session, or cannot compare the call.",
    remedy: "Use one that the message lists, or correct `--expect`, `--hook`, `--provider` or `--session`.",
  },
  PROVIDER_UNREACHABLE: {
    cause: "The provider under replay does not accept calls.",
    remedy: "Check that it runs and serves at the address of `--against`.",
  },
  PROVIDER_EXITED: {
    cause: "The provider that `--start` started has exited.",
    remedy: "Fix the error in its output, which the message contains.",
  },
  HOOK_FAILED: {
    cause: "A command of `--hook` failed.",
    remedy: "Correct the command.",
  },
  INTERRUPTED: {
    cause: "A signal interrupted the replay.",
    remedy: "Run the command again.",
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERROR_CODES;
