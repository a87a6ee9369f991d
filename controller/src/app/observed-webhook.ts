import type { AdmissionDecision, AdmissionWebhook } from "../api/admission.ts";
import type { Logger } from "../telemetry/log.ts";
import { isRecord } from "../util/json.ts";

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
