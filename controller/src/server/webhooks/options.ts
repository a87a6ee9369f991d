import { PERSISTENT_VOLUME_LABEL_WEBHOOK } from "../../api/admission.ts";
import { isControllerEnabled } from "../../api/controller-names.ts";
import { listFlag, type Problem, stringFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";
import {
  addressProblems,
  cipherSuitesFlag,
  pairProblems,
  portFlag,
  type ServingOptions,
  tlsMinVersionFlag,
} from "../options.ts";

const group = "webhooks";

/** Upstream's names, meanings and defaults (cloud-provider/options/webhook.go v0.36.3). No feature gate is needed. */
export const webhookFlags = {
  webhooks: listFlag({
    path: "Webhook.Webhooks",
    group,
    valueName: "name,-name,*",
    defaultValue: [],
    help: "admission webhooks to serve: name enables one, -name disables it, * means all; available: persistent-volume-label",
    differs: "persistent-volume-label is available; upstream has none and needs a feature gate",
  }),
  webhookSecurePort: portFlag({
    group,
    defaultValue: 10_260,
    help: "HTTPS port of webhooks, which every replica serves; 0 disables all",
  }),
  webhookBindAddress: stringFlag({
    group,
    valueName: "ip",
    defaultValue: "0.0.0.0",
    help: "IP address on which --webhook-secure-port listens; 0.0.0.0 or :: means all",
  }),
  webhookCertDir: stringFlag({
    group,
    valueName: "directory",
    help: "directory of cloud-controller-manager-webhook.crt and .key, which are generated if missing; empty: generated at each start and kept in memory",
  }),
  webhookTlsCertFile: stringFlag({
    group,
    valueName: "file",
    help: "serving certificate of webhooks with its chain, PEM; reloaded when it changes; takes precedence over --webhook-cert-dir",
  }),
  webhookTlsPrivateKeyFile: stringFlag({
    group,
    valueName: "file",
    help: "private key of --webhook-tls-cert-file, PEM",
  }),
  webhookTlsMinVersion: tlsMinVersionFlag(group, "minimum TLS version of webhooks"),
  webhookTlsCipherSuites: cipherSuitesFlag({
    group,
    help: "cipher suites of webhooks by IANA name; those of TLS 1.3 are always enabled; empty: OpenSSL's default",
    differs: "see --tls-cipher-suites",
  }),
} as const;

export type WebhookOptions = OptionsOf<typeof webhookFlags>;

type Ports = Pick<ServingOptions, "securePort"> &
  Omit<WebhookOptions, "webhookCertDir" | "webhookTlsMinVersion" | "webhookTlsCipherSuites">;

const KNOWN: ReadonlySet<string> = new Set([PERSISTENT_VOLUME_LABEL_WEBHOOK]);

/** By the rules of --controllers. */
export function isWebhookEnabled(
  name: string,
  { webhooks, webhookSecurePort }: Pick<WebhookOptions, "webhooks" | "webhookSecurePort">,
): boolean {
  return webhookSecurePort !== 0 && isControllerEnabled(name, webhooks, new Set(), {});
}

export function webhookProblems(options: Ports): readonly Problem[] {
  const unknown = options.webhooks
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "" && name !== "*" && !KNOWN.has(name))
    .map((name) => ({
      where: "--webhooks",
      what: `unknown webhook "${name}"; available: ${[...KNOWN].join(", ")}`,
    }));
  return [...KNOWN].some((name) => isWebhookEnabled(name, options)) ? [...unknown, ...portProblems(options)] : unknown;
}

function portProblems(options: Ports): readonly Problem[] {
  const { webhookBindAddress, webhookTlsCertFile, webhookTlsPrivateKeyFile, webhookSecurePort, securePort } = options;
  const what = `${webhookSecurePort} is also --secure-port; use another port`;
  return [
    ...addressProblems("--webhook-bind-address", webhookBindAddress),
    ...(webhookSecurePort === securePort ? [{ where: "--webhook-secure-port", what }] : []),
    ...pairProblems({
      "--webhook-tls-cert-file": webhookTlsCertFile,
      "--webhook-tls-private-key-file": webhookTlsPrivateKeyFile,
    }),
  ];
}
