import type { AdmissionPatchStep } from "../../../api/admission.ts";
import type { PersistentVolume } from "../../../api/persistent-volume.ts";
import type { JsonObject, JsonValue } from "../../../kube/client.ts";
import type { TopologyTerm } from "../../../provider/model/volume.ts";
import { isRecord, type JsonRecord, recordField } from "../../../util/json.ts";
import type { AdmissionPlan } from "../plan.ts";

/** The plan as changes of the object that is being admitted. Fields that this program does not know survive. */
export function admissionPatch(object: JsonRecord, { labels, topology }: AdmissionPlan): readonly AdmissionPatchStep[] {
  return [...labelSteps(object, labels), ...affinitySteps(object, topology)];
}

function labelSteps(object: JsonRecord, labels: AdmissionPlan["labels"]): readonly AdmissionPatchStep[] {
  const entries = Object.entries(labels);
  if (entries.length === 0) return [];
  if (!isRecord(recordField(object, "metadata")["labels"])) {
    return [{ op: "add", path: "/metadata/labels", value: labels }];
  }
  return entries.map(([key, value]) => ({ op: "add", path: `/metadata/labels/${escapePointer(key)}`, value }));
}

function affinitySteps(object: JsonRecord, topology: readonly TopologyTerm[]): readonly AdmissionPatchStep[] {
  if (topology.length === 0) return [];
  const affinity = recordField(object, "spec")["nodeAffinity"];
  const required = isRecord(affinity) ? affinity["required"] : undefined;
  const terms = isRecord(required) ? listOf(required["nodeSelectorTerms"]) : [];
  if (terms.length === 0) {
    return [{ op: "add", path: "/spec/nodeAffinity", value: affinityOf(topology) }];
  }
  const value = terms.flatMap((term) => topology.map((known) => extended(term, known)));
  return [{ op: "replace", path: "/spec/nodeAffinity/required/nodeSelectorTerms", value }];
}

function extended(term: unknown, known: TopologyTerm): JsonRecord {
  const before = isRecord(term) ? term : {};
  return { ...before, matchExpressions: [...listOf(before["matchExpressions"]), ...expressionsOf(known)] };
}

/** Merge patch for a PersistentVolume that is there: only for this very object, as it was read. */
export function labellingPatch(
  { metadata: { uid, resourceVersion } }: PersistentVolume,
  labels: Readonly<Record<string, string>>,
  topology: readonly TopologyTerm[],
): JsonObject {
  return {
    metadata: { uid, resourceVersion, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    ...(topology.length === 0 ? {} : { spec: { nodeAffinity: affinityOf(topology) } }),
  };
}

function affinityOf(topology: readonly TopologyTerm[]): JsonObject {
  const nodeSelectorTerms = topology.map((known) => ({ matchExpressions: expressionsOf(known) }));
  return { required: { nodeSelectorTerms } };
}

function expressionsOf(known: TopologyTerm): readonly JsonValue[] {
  return known.map(({ key, values }) => ({ key, operator: "In", values }));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** RFC 6901. */
function escapePointer(text: string): string {
  return text.replaceAll("~", "~0").replaceAll("/", "~1");
}
