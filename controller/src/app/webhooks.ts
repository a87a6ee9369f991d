import { hostname } from "node:os";
import { type AdmissionDecision, type AdmissionWebhook, PERSISTENT_VOLUME_LABEL_WEBHOOK } from "../api/admission.ts";
import { PERSISTENT_VOLUME_LABEL_CONTROLLER } from "../api/controller-names.ts";
import { isObserved, modesOf } from "../observe/mode.ts";
import { ServingCertificate } from "../server/certificates/serving-certificate.ts";
import type { RunningServer } from "../server/endpoints.ts";
import { tlsSettings } from "../server/options.ts";
import { isWebhookEnabled } from "../server/webhooks/options.ts";
import { webhookMetrics } from "../server/webhooks/metrics.ts";
import { startWebhookServer } from "../server/webhooks/webhook-server.ts";
import type { Logger } from "../telemetry/log.ts";
import { UsageError, messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";
import { PemFileError } from "../util/pem-pair.ts";
import type { TaskGroup } from "../util/task-group.ts";
import type { Options } from "./options.ts";
import { type WebhookParts, buildPersistentVolumeWebhook } from "../controllers/persistent-volume-label/webhook.ts";

export interface WebhooksDependencies extends WebhookParts {
  readonly options: Options;
  readonly tasks: TaskGroup;
}

/** Serves the webhooks that the options turn on, whoever leads; undefined: none. Rejects with UsageError when it cannot be done. */
export async function serveWebhooks(dependencies: WebhooksDependencies): Promise<RunningServer | undefined> {
  const { options, tasks, metrics, clock, log, tracing } = dependencies;
  const enabled = [{ name: PERSISTENT_VOLUME_LABEL_WEBHOOK, build: buildPersistentVolumeWebhook }].filter(({ name }) =>
    isWebhookEnabled(name, options),
  );
  if (enabled.length === 0) return undefined;
  const { webhookBindAddress: host, webhookSecurePort: port, webhookTlsCipherSuites } = options;
  try {
    const certificate = await loadCertificate(dependencies);
    const isMuted = isObserved(modesOf(options), PERSISTENT_VOLUME_LABEL_CONTROLLER, "");
    const built = enabled.map(({ build }) => build(dependencies));
    const webhooks = isMuted ? built.map((webhook) => observedWebhook(webhook, log)) : built;
    const server = await startWebhookServer({
      address: { host, port },
      webhooks,
      certificate,
      tls: tlsSettings(options.webhookTlsMinVersion, webhookTlsCipherSuites),
      metrics: webhookMetrics(metrics),
      clock,
      log,
      tracing,
    });
    tasks.start("webhooks' certificate", (signal) => certificate.run(signal));
    const urls = webhooks.map(({ path }) => `${server.url}${path}`).join(" ");
    log.info("Serving webhooks", { urls, ...trustFields(certificate) });
    return server;
  } catch (error) {
    if (error instanceof PemFileError) throw new UsageError(`--webhooks: ${error.message}`, { cause: error });
    throw new UsageError(`--webhook-secure-port: cannot listen on ${host}, port ${port}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** A host's own name is for a control plane whose members reach each other by it. */
function loadCertificate({ options, clock, log }: WebhooksDependencies): Promise<ServingCertificate> {
  const { webhookBindAddress, webhookCertDir, webhookTlsCertFile, webhookTlsPrivateKeyFile } = options;
  const isAny = webhookBindAddress === "0.0.0.0" || webhookBindAddress === "::";
  return ServingCertificate.load({
    settings: {
      certFile: webhookTlsCertFile,
      keyFile: webhookTlsPrivateKeyFile,
      certDir: webhookCertDir,
      pairName: "cloud-controller-manager-webhook",
      hosts: [...new Set(["localhost", hostname(), "127.0.0.1", "::1", ...(isAny ? [] : [webhookBindAddress])])],
    },
    clock,
    log,
  });
}

/** What to put into `clientConfig.caBundle`. One that is in no file must be shown here, or nobody could register it. */
function trustFields(certificate: ServingCertificate): Readonly<Record<string, string>> {
  const { file, isNew } = certificate;
  if (file !== undefined) return { certificate: file, ...(isNew ? { caFile: file } : {}) };
  return { caBundle: Buffer.from(certificate.current().cert).toString("base64") };
}

/** Judges as ever and lets everything through as it is: an answer with a patch, or a refusal, would be a write by another's hand. */
export function observedWebhook(webhook: AdmissionWebhook, log: Logger): AdmissionWebhook {
  return {
    ...webhook,
    admit: async (request, signal) => {
      const decision = await webhook
        .admit(request, signal)
        .catch((error: unknown) => ({ kind: "failed", error }) as const);
      const wouldAct = decision.kind !== "allowed" || decision.patch.length > 0;
      if (wouldAct) {
        const name = nameOf(request.object);
        log.info("Webhook would answer otherwise, and does not: observed", { webhook: webhook.name, name, decision });
      }
      return UNTOUCHED;
    },
  };
}

const UNTOUCHED: AdmissionDecision = { kind: "allowed", patch: [], warnings: [] };

function nameOf(object: Readonly<Record<string, unknown>> | undefined): string {
  const metadata = object?.["metadata"];
  const name = isRecord(metadata) ? (metadata["name"] ?? metadata["generateName"]) : undefined;
  return typeof name === "string" ? name : "";
}
