import type { AdmissionWebhook } from "../api/admission.ts";
import { EVENT_SOURCES } from "../api/controller-names.ts";
import { persistentVolumeLabelController } from "../controllers/persistent-volume-label/controller.ts";
import { admissionCounter, labellingCounter } from "../controllers/persistent-volume-label/metrics.ts";
import { BatchingVolumeReader } from "../provider/lookup/volume-reader.ts";
import { persistentVolumeWebhook } from "../controllers/persistent-volume-label/webhook.ts";
import type { Provider } from "../provider/model/provider.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Clock } from "../util/clock.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** A volume made a moment ago must be seen, and a user waits: the cloud is read now, after a wait that nobody feels. */
const ADMISSION = { windowMs: 10, maxDataAgeMs: 0, priority: "high" } as const;

/** Nobody waits. */
const LABELLING = { windowMs: 50, maxDataAgeMs: 30_000, priority: "low" } as const;

/** persistent-volume-label-controller from what the process has. */
export function preparePersistentVolumeLabel(
  { kube, provider, metrics, log, clock, tracing }: ControllersDependencies,
  own: SharedMetrics,
): BuildController {
  const shared = { ...own, outcomes: labellingCounter(metrics) };
  return () =>
    persistentVolumeLabelController({
      ...shared,
      persistentVolumes: kube.persistentVolumes,
      volumes: new BatchingVolumeReader({
        providers: () => provider.providers.providers,
        clock,
        settings: LABELLING,
        tracing,
      }),
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.persistentVolumeLabel),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
    });
}

export interface WebhookParts {
  /** None before they are connected to. */
  readonly providers: () => readonly Provider[];
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

/** The webhook persistent-volume-label from what the process has before anybody leads. */
export function buildPersistentVolumeWebhook(parts: WebhookParts): AdmissionWebhook {
  const { providers, metrics, log, clock, tracing } = parts;
  return persistentVolumeWebhook({
    volumes: new BatchingVolumeReader({ providers, clock, settings: ADMISSION, tracing }),
    outcomes: admissionCounter(metrics),
    log,
  });
}
