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

/** Serves the enabled webhooks, also on a standby. Rejects with UsageError. */
export async function serveWebhooks(dependencies: WebhooksDependencies): Promise<RunningServer | undefined> {
  const { options, tasks, log } = dependencies;
  const enabled = [{ name: PERSISTENT_VOLUME_LABEL_WEBHOOK, build: buildPersistentVolumeWebhook }].filter(({ name }) =>
    isWebhookEnabled(name, options),
  );
  if (enabled.length === 0) return undefined;
  const { webhookBindAddress: host, webhookSecurePort: port, webhookTlsCipherSuites } = options;
  try {
    const certificate = await loadCertificate(dependencies);
    const observing = isObserved(modesOf(options), PERSISTENT_VOLUME_LABEL_CONTROLLER, "");
    const built = enabled.map(({ build }) => build(dependencies));
    const webhooks = observing ? built.map((webhook) => observedWebhook(webhook, log)) : built;
    const server = await startWebhookServer({
      ...dependencies,
      address: { host, port },
      webhooks,
      certificate,
      tls: tlsSettings(options.webhookTlsMinVersion, webhookTlsCipherSuites),
      metrics: webhookMetrics(dependencies.metrics),
    });
    tasks.start("webhook certificate", (signal) => certificate.run(signal));
    const urls = webhooks.map(({ path }) => `${server.url}${path}`).join(" ");
    log.info("Serving webhooks", { urls, ...trustFields(certificate) });
    return server;
  } catch (error) {
    if (error instanceof PemFileError) throw new UsageError(`--webhooks: ${error.message}`, { cause: error });
    const where = `${host}, port ${port}`;
    throw new UsageError(`--webhook-secure-port: cannot listen on ${where}: ${messageOf(error)}`, { cause: error });
  }
}

/** The host name is for API servers that reach the webhooks by it. */
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

/** The value for `clientConfig.caBundle`: logged when it is in no file, since it could not be registered otherwise. */
function trustFields(certificate: ServingCertificate): Readonly<Record<string, string>> {
  const { file, isNew } = certificate;
  if (file !== undefined) return { certificate: file, ...(isNew ? { caFile: file } : {}) };
  return { caBundle: Buffer.from(certificate.current().cert).toString("base64") };
}

/** Observe mode: evaluates requests, logs the decision and allows them unchanged. */
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
        log.info("Would have changed or denied a request: observe mode", { webhook: webhook.name, name, decision });
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
