import {
  type AdmissionDecision,
  type AdmissionRequest,
  type AdmissionWebhook,
  PERSISTENT_VOLUME_LABEL_WEBHOOK,
} from "../../api/admission.ts";
import type { PersistentVolume, VolumeSource } from "../../api/persistent-volume.ts";
import { PERSISTENT_VOLUMES } from "../../kube/resources/persistent-volume.ts";
import { DEFAULT_HOLD_MS, type ProviderError } from "../../provider/model/errors.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { DecodeError, type JsonRecord } from "../../util/json.ts";
import { messageOf } from "../../util/errors.ts";
import { admissionCounter, type LabelingResult, type ResultCounter } from "./metrics.ts";
import { describeVolume, planAdmission, questionOf } from "./plan.ts";
import { type FactsResult, type VolumeFacts, admissionPatch, factsOf } from "./plan/labels.ts";
import { BatchingVolumeReader, type VolumeReader } from "../../provider/lookup/volume-reader.ts";

/** A volume made a moment ago must be seen, and a user waits: the cloud is read now, after a wait that nobody feels. */
const READS = { windowMs: 10, maxDataAgeMs: 0, priority: "high" } as const;

export interface WebhookParts {
  /** None before they are connected to. */
  readonly providers: () => readonly Provider[];
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

/** The webhook persistent-volume-label, from what the process has before anybody leads. */
export function buildPersistentVolumeWebhook({ metrics, log, ...reading }: WebhookParts): AdmissionWebhook {
  const volumes = new BatchingVolumeReader({ ...reading, settings: READS });
  return persistentVolumeWebhook({ volumes, results: admissionCounter(metrics), log });
}

export interface PersistentVolumeWebhookDependencies {
  readonly volumes: VolumeReader;
  readonly results: ResultCounter;
  readonly log: Logger;
}

/** What came of one review. */
interface Review {
  readonly result: LabelingResult;
  readonly decision: AdmissionDecision;
}

/**
 * Labels PersistentVolumes and bounds them to the nodes that reach them, before anybody can use them. What is no provider's passes
 * untouched; what is a provider's passes only with the cloud's word, for without it pods would be let onto nodes without the volume.
 */
export function persistentVolumeWebhook({
  volumes,
  results,
  log,
}: PersistentVolumeWebhookDependencies): AdmissionWebhook {
  return {
    name: PERSISTENT_VOLUME_LABEL_WEBHOOK,
    path: `/${PERSISTENT_VOLUME_LABEL_WEBHOOK}`,
    admit: async (request, signal) => {
      const object = newPersistentVolume(request);
      if (object === undefined) return UNTOUCHED;
      const { result, decision } = await review(object, volumes, signal);
      results.inc({ result });
      log.debug(4, "Evaluated PersistentVolume", { requestUid: request.uid, result, decision });
      return decision;
    },
  };
}

const UNTOUCHED: AdmissionDecision = { kind: "allowed", patch: [], warnings: [] };

/** undefined: the review is about something else. Registered for more than the docs say, the webhook does no harm. */
function newPersistentVolume({ resource, subResource, operation, object }: AdmissionRequest): JsonRecord | undefined {
  const isOurs = resource.group === "" && resource.resource === "persistentvolumes" && subResource === "";
  return isOurs && operation === "CREATE" ? object : undefined;
}

async function review(object: JsonRecord, volumes: VolumeReader, signal: AbortSignal): Promise<Review> {
  let pv: PersistentVolume;
  try {
    pv = PERSISTENT_VOLUMES.fromJson(object);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return forbidden("invalid", `the PersistentVolume cannot be read: ${messageOf(error)}`);
  }
  const question = questionOf(pv);
  switch (question.kind) {
    case "nothing":
      return { result: "not_owned", decision: UNTOUCHED };
    case "provisioned":
      return reviewFacts(object, pv, question.result);
    case "ask":
      return ask(object, pv, question.source, volumes, signal);
  }
  return question satisfies never;
}

async function ask(
  object: JsonRecord,
  pv: PersistentVolume,
  source: VolumeSource,
  volumes: VolumeReader,
  signal: AbortSignal,
): Promise<Review> {
  const what = describeVolume(source);
  const known = await volumes.get(pv, source, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return "late" as const;
  });
  // Nothing is asked again by itself: a client would wait as long once more, and again, before its user hears of it.
  if (known === "late") return unavailable(`the cloud did not answer about ${what} in time; try again`, undefined);
  switch (known.kind) {
    case "present":
      return reviewFacts(object, pv, factsOf(known.volume));
    case "notOwned":
      return { result: "not_owned", decision: UNTOUCHED };
    case "absent":
      return forbidden("absent", `the cloud has no ${what}; check its id and the account of the provider`);
    case "undecided":
      return unavailable(`whose ${what} is cannot be said yet: ${known.error.message}`, 1);
    case "unknown":
      return unknownReview(what, known.error);
  }
  return known satisfies never;
}

function reviewFacts(object: JsonRecord, pv: PersistentVolume, result: FactsResult): Review {
  if (result.kind === "invalid") return forbidden("invalid", result.message);
  return allowed(object, pv, result.facts);
}

function allowed(object: JsonRecord, pv: PersistentVolume, facts: VolumeFacts): Review {
  const plan = planAdmission(pv, facts);
  const patch = admissionPatch(object, plan);
  return {
    result: patch.length === 0 ? "unchanged" : "labeled",
    decision: { kind: "allowed", patch, warnings: plan.warnings },
  };
}

/** Clients try again by themselves where a moment may be enough; never where the volume, or somebody's doing, is what it takes. */
function unknownReview(what: string, error: ProviderError): Review {
  const message = `${what} cannot be looked up: ${error.message}`;
  switch (error.class) {
    case "FINAL":
      return forbidden("unknown", message);
    case "OPERATOR":
      return unavailable(message, undefined);
    case "WAIT":
      return unavailable(message, shortWaitSeconds(error.retryAfterMs ?? DEFAULT_HOLD_MS));
    case "TRANSIENT":
    case "RESYNC":
    case "OUTCOME_UNKNOWN":
      return unavailable(message, 1);
  }
  return error.class satisfies never;
}

/** A user in front of a client that waits in silence is better told. */
const MAX_SILENT_MS = 5000;

function shortWaitSeconds(waitMs: number): number | undefined {
  return waitMs > MAX_SILENT_MS ? undefined : Math.max(1, Math.ceil(waitMs / 1000));
}

function forbidden(result: LabelingResult, message: string): Review {
  return { result, decision: { kind: "denied", reason: "forbidden", message, retryAfterSeconds: undefined } };
}

function unavailable(message: string, retryAfterSeconds: number | undefined): Review {
  return { result: "unknown", decision: { kind: "denied", reason: "unavailable", message, retryAfterSeconds } };
}
