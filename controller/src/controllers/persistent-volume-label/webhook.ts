import {
  type AdmissionDecision,
  type AdmissionRequest,
  type AdmissionWebhook,
  PERSISTENT_VOLUME_LABEL_WEBHOOK,
} from "../../api/admission.ts";
import type { PersistentVolume, VolumeSource } from "../../api/persistent-volume.ts";
import { PERSISTENT_VOLUMES } from "../../kube/resources/persistent-volume.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { DecodeError, type JsonRecord } from "../../util/json.ts";
import { messageOf } from "../../util/errors.ts";
import { admissionCounter, type LabelingResult, type ResultCounter } from "./metrics.ts";
import { describeVolume, planAdmission, lookupOf } from "./plan.ts";
import { type FactsResult, type VolumeFacts, admissionPatch, factsOf } from "./plan/labels.ts";
import { BatchingVolumeReader, type VolumeReader } from "../../provider/lookup/volume-reader.ts";

/** A new volume must be visible and a user waits, so that the cloud is read immediately. */
const READS = { windowMs: 10, maxDataAgeMs: 0, priority: "high" } as const;

export interface WebhookParts {
  readonly providers: () => readonly Provider[];
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

export function buildPersistentVolumeWebhook({ metrics, log, ...reading }: WebhookParts): AdmissionWebhook {
  const volumes = new BatchingVolumeReader({ ...reading, settings: READS });
  return persistentVolumeWebhook({ volumes, results: admissionCounter(metrics), log });
}

export interface PersistentVolumeWebhookDependencies {
  readonly volumes: VolumeReader;
  readonly results: ResultCounter;
  readonly log: Logger;
}

interface Review {
  readonly result: LabelingResult;
  readonly decision: AdmissionDecision;
}

/**
 * Labels new PersistentVolumes and adds node affinity for the nodes that reach them. Volumes of other owners are not changed. A volume of a
 * provider is admitted only with data from the cloud, because otherwise pods could be scheduled to nodes without the volume.
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

/** undefined: not the creation of a PersistentVolume. */
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
  const lookup = lookupOf(pv);
  switch (lookup.kind) {
    case "none":
      return { result: "not_owned", decision: UNTOUCHED };
    case "provisioned":
      return reviewFacts(object, pv, lookup.result);
    case "query":
      return query(object, pv, lookup.source, volumes, signal);
  }
  return lookup satisfies never;
}

async function query(
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
  // Without a retry: the client would wait as long again before its user sees an error.
  if (known === "late") return unavailable(`the cloud did not respond in time about ${what}; try again`, undefined);
  switch (known.kind) {
    case "present":
      return reviewFacts(object, pv, factsOf(known.volume));
    case "notOwned":
      return { result: "not_owned", decision: UNTOUCHED };
    case "absent":
      return forbidden("absent", `the cloud has no ${what}; check its id and the account of the provider`);
    case "undecided":
      return unavailable(`the owner of ${what} is not known yet: ${known.error.message}`, 1);
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

/** Clients retry automatically after a temporary error, but not if the volume or an operator must change something. */
function unknownReview(what: string, error: ProviderError): Review {
  const message = `${what} cannot be looked up: ${error.message}`;
  switch (error.class) {
    case "FINAL":
      return forbidden("unknown", message);
    case "OPERATOR":
      return unavailable(message, undefined);
    case "WAIT":
      return unavailable(message, shortWaitSeconds(error.retryAfterMs ?? 0));
    case "TRANSIENT":
    case "RESYNC":
    case "OUTCOME_UNKNOWN":
      return unavailable(message, 1);
  }
  return error.class satisfies never;
}

/** A user should see an error rather than a client that waits silently. */
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
