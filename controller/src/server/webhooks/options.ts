import { PERSISTENT_VOLUME_LABEL_WEBHOOK } from "../../api/admission.ts";
import { isControllerEnabled } from "../../api/controller-names.ts";
import { choiceFlag, listFlag, numberFlag, type Problem, stringFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";
import { addressProblems, cipherSuitesFlag, pairProblems, type ServingOptions, TLS_VERSIONS } from "../options.ts";

const group = "webhooks";

/** Upstream's names, meanings and defaults (cloud-provider/options/webhook.go v0.36.3). No feature gate stands before them. */
export const webhookFlags = {
  webhooks: listFlag({
    path: "Webhook.Webhooks",
    group,
    valueName: "name,-name,*",
    defaultValue: [],
    help: "admission webhooks to serve: a name turns one on, -name turns it off, * means all; there is persistent-volume-label",
    differs: "persistent-volume-label is there; upstream has none and needs a feature gate",
  }),
  webhookSecurePort: numberFlag({
    group,
    valueName: "port",
    defaultValue: 10_260,
    min: 0,
    max: 65_535,
    whole: true,
    help: "where webhooks are served over TLS, by every replica; 0 turns all off",
  }),
  webhookBindAddress: stringFlag({
    group,
    valueName: "ip",
    defaultValue: "0.0.0.0",
    help: "address to listen on at --webhook-secure-port; 0.0.0.0 or :: means all",
  }),
  webhookCertDir: stringFlag({
    group,
    valueName: "folder",
    help: "where cloud-controller-manager-webhook.crt and .key are, or are put when they are made; empty: made at each start, kept in memory",
  }),
  webhookTlsCertFile: stringFlag({
    group,
    valueName: "file",
    help: "serving certificate of webhooks with its chain, PEM; read again when it changes. Comes before --webhook-cert-dir",
  }),
  webhookTlsPrivateKeyFile: stringFlag({
    group,
    valueName: "file",
    help: "private key of --webhook-tls-cert-file, PEM",
  }),
  webhookTlsMinVersion: choiceFlag({
    group,
    choices: TLS_VERSIONS,
    defaultValue: "VersionTLS12",
    help: "oldest TLS that webhooks speak",
    differs: "the same default, by name; older versions are broken and refused",
  }),
  webhookTlsCipherSuites: cipherSuitesFlag({
    group,
    help: "cipher suites that webhooks take, by their IANA names; those of TLS 1.3 are always on; empty: OpenSSL's choice",
    differs: "see --tls-cipher-suites",
  }),
} as const;

export type WebhookOptions = OptionsOf<typeof webhookFlags>;

type Ports = Pick<ServingOptions, "securePort"> &
  Omit<WebhookOptions, "webhookCertDir" | "webhookTlsMinVersion" | "webhookTlsCipherSuites">;

const KNOWN: ReadonlySet<string> = new Set([PERSISTENT_VOLUME_LABEL_WEBHOOK]);

/** Named, or `*` and not turned off; the rules are those of --controllers. */
export function isWebhookEnabled(
  name: string,
  { webhooks, webhookSecurePort }: Pick<WebhookOptions, "webhooks" | "webhookSecurePort">,
): boolean {
  return webhookSecurePort !== 0 && isControllerEnabled(name, webhooks, new Set(), {});
}

/** What is wrong with the settings of webhooks. */
export function webhookProblems(options: Ports): readonly Problem[] {
  const unknown = options.webhooks
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "" && name !== "*" && !KNOWN.has(name))
    .map((name) => ({
      where: "--webhooks",
      what: `"${name}" is not a webhook; there is ${[...KNOWN].join(", ")}`,
    }));
  return [...KNOWN].some((name) => isWebhookEnabled(name, options)) ? [...unknown, ...portProblems(options)] : unknown;
}

function portProblems(options: Ports): readonly Problem[] {
  const { webhookBindAddress, webhookTlsCertFile, webhookTlsPrivateKeyFile, webhookSecurePort, securePort } = options;
  const what = `${webhookSecurePort} is --secure-port as well; give another`;
  return [
    ...addressProblems("--webhook-bind-address", webhookBindAddress),
    ...(webhookSecurePort === securePort ? [{ where: "--webhook-secure-port", what }] : []),
    ...pairProblems({
      "--webhook-tls-cert-file": webhookTlsCertFile,
      "--webhook-tls-private-key-file": webhookTlsPrivateKeyFile,
    }),
  ];
}
