import { isIP } from "node:net";
import { PERSISTENT_VOLUME_LABEL_WEBHOOK } from "../../api/admission.ts";
import { isControllerEnabled } from "../../api/controller-names.ts";
import type { Options } from "../../app/options.ts";
import type { Problem } from "../../options/flag.ts";

type WebhookOptions = Pick<
  Options,
  | "webhooks"
  | "webhookSecurePort"
  | "webhookBindAddress"
  | "webhookTlsCertFile"
  | "webhookTlsPrivateKeyFile"
  | "securePort"
>;

const KNOWN: ReadonlySet<string> = new Set([PERSISTENT_VOLUME_LABEL_WEBHOOK]);

/** Named, or `*` and not turned off; the rules are those of --controllers. */
export function isWebhookEnabled(
  name: string,
  { webhooks, webhookSecurePort }: Pick<Options, "webhooks" | "webhookSecurePort">,
): boolean {
  return webhookSecurePort !== 0 && isControllerEnabled(name, webhooks, new Set(), {});
}

/** What is wrong with the settings of webhooks. */
export function webhookProblems(options: WebhookOptions): readonly Problem[] {
  const unknown = options.webhooks
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "" && name !== "*" && !KNOWN.has(name))
    .map((name) => ({
      where: "--webhooks",
      what: `"${name}" is not a webhook; there is ${[...KNOWN].join(", ")}`,
    }));
  return [...KNOWN].some((name) => isWebhookEnabled(name, options))
    ? [...unknown, ...servingProblems(options)]
    : unknown;
}

function servingProblems(options: WebhookOptions): readonly Problem[] {
  const problems: Problem[] = [];
  const { webhookBindAddress, webhookTlsCertFile, webhookTlsPrivateKeyFile, webhookSecurePort, securePort } = options;
  if (isIP(webhookBindAddress) === 0) {
    problems.push({
      where: "--webhook-bind-address",
      what: `"${webhookBindAddress}" is not an IP address; write it like 0.0.0.0 or ::`,
    });
  }
  if (webhookSecurePort === securePort) {
    problems.push({
      where: "--webhook-secure-port",
      what: `${webhookSecurePort} is --secure-port as well; give another`,
    });
  }
  if ((webhookTlsCertFile === "") !== (webhookTlsPrivateKeyFile === "")) {
    const pair = ["--webhook-tls-cert-file", "--webhook-tls-private-key-file"] as const;
    const [given, missing] = webhookTlsCertFile === "" ? [pair[1], pair[0]] : pair;
    problems.push({ where: missing, what: `is missing: ${given} is given, and one is of no use without the other` });
  }
  return problems;
}
