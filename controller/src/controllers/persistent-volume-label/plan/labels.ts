import type { AdmissionPatchStep } from "../../../api/admission.ts";
import { isLabelKey, isLabelValue } from "../../../api/labels.ts";
import { PROVISIONED_BY, type PersistentVolume, ZONE_DELIMITER } from "../../../api/persistent-volume.ts";
import {
  FAILURE_DOMAIN_BETA_REGION,
  FAILURE_DOMAIN_BETA_ZONE,
  TOPOLOGY_REGION,
  TOPOLOGY_ZONE,
} from "../../../api/well-known.ts";
import type { JsonObject, JsonValue } from "../../../kube/client.ts";
import type { TopologyRequirement, TopologyTerm, Volume } from "../../../provider/model/volume.ts";
import { type JsonRecord, isRecord, recordField } from "../../../util/json.ts";

type Labels = Readonly<Record<string, string>>;

/** Facts of a volume in the form of a PersistentVolume. */
export interface VolumeFacts {
  readonly labels: Labels;
  /** Nodes that reach the volume: they match all requirements of one term. Empty: not known. */
  readonly topology: readonly TopologyTerm[];
  /** Invalid labels of the cloud, one sentence each. */
  readonly dropped: readonly string[];
}

export type FactsResult =
  | { readonly kind: "facts"; readonly facts: VolumeFacts }
  /** Leaving out an invalid affinity could schedule pods to nodes without the volume. */
  | { readonly kind: "invalid"; readonly message: string };

export function factsOf({ zones, region, labels, nodeAffinity }: Volume): FactsResult {
  const base = [...requirement(TOPOLOGY_ZONE, zones), ...requirement(TOPOLOGY_REGION, region ? [region] : [])];
  const topology = combine(base, nodeAffinity);
  const invalid = topology.flat().find((one) => !isRequirement(one));
  if (invalid !== undefined) {
    const { key, values } = invalid;
    return {
      kind: "invalid",
      message: `the cloud's node affinity "${key} in (${values.join(", ")})" is not valid in Kubernetes`,
    };
  }
  const own: Labels = {
    ...(zones.length === 0 ? {} : { [TOPOLOGY_ZONE]: zones.toSorted().join(ZONE_DELIMITER) }),
    ...(region ? { [TOPOLOGY_REGION]: region } : {}),
  };
  const labelsOfCloud = Object.entries({ ...labels, ...own });
  const valid = labelsOfCloud.filter(([key, value]) => isLabelKey(key) && isLabelValue(value));
  return {
    kind: "facts",
    facts: {
      labels: Object.fromEntries(valid),
      topology,
      dropped: labelsOfCloud
        .filter(([key, value]) => !isLabelKey(key) || !isLabelValue(value))
        .map(([key, value]) => `label ${key}=${value} of the cloud was dropped, because it is not valid in Kubernetes`),
    },
  };
}

/**
 * Facts from the labels of the volume's provisioner, newer names before deprecated ones. undefined: none, or incomplete.
 * plugin/pkg/admission/storage/persistentvolume/label/admission.go v1.30.
 */
export function provisionedFacts({ metadata: { annotations, labels } }: PersistentVolume): FactsResult | undefined {
  if (annotations[PROVISIONED_BY] === undefined) return undefined;
  const pair = PAIRS.find(({ zone, region }) => labels[zone] !== undefined && labels[region] !== undefined);
  if (pair === undefined) return undefined;
  const { zone, region } = pair;
  const [zoneText, regionText] = [labels[zone] ?? "", labels[region] ?? ""];
  const zones = zonesOfLabel(zoneText);
  if (zones.includes("")) {
    return { kind: "invalid", message: `label ${zone}=${zoneText} names an empty zone` };
  }
  const topology = [[...requirement(zone, zones), { key: region, values: [regionText] }]];
  return { kind: "facts", facts: { labels: { [zone]: zoneText, [region]: regionText }, topology, dropped: [] } };
}

const PAIRS = [
  { zone: TOPOLOGY_ZONE, region: TOPOLOGY_REGION },
  { zone: FAILURE_DOMAIN_BETA_ZONE, region: FAILURE_DOMAIN_BETA_REGION },
] as const;

/** Zones in a label, sorted; contains "" if it is malformed. */
export function zonesOfLabel(value: string): readonly string[] {
  return [...new Set(value.split(ZONE_DELIMITER).map((zone) => zone.trim()))].toSorted();
}

function requirement(key: string, values: readonly string[]): readonly TopologyRequirement[] {
  return values.length === 0 ? [] : [{ key, values: values.toSorted() }];
}

/** Adds zone and region to each further term; requirements of the term with the same key take precedence. */
function combine(base: readonly TopologyRequirement[], further: readonly TopologyTerm[]): readonly TopologyTerm[] {
  if (further.length === 0) return base.length === 0 ? [] : [base];
  return further.map((term) => [...base.filter(({ key }) => !term.some((one) => one.key === key)), ...term]);
}

function isRequirement({ key, values }: TopologyRequirement): boolean {
  return isLabelKey(key) && values.length > 0 && values.every((value) => value !== "" && isLabelValue(value));
}

/** Keeps fields that this program does not know. */
export function admissionPatch(
  object: JsonRecord,
  { labels, topology }: Pick<VolumeFacts, "labels" | "topology">,
): readonly AdmissionPatchStep[] {
  return [...labelSteps(object, labels), ...affinitySteps(object, topology)];
}

function labelSteps(object: JsonRecord, labels: Labels): readonly AdmissionPatchStep[] {
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

/** Merge patch, valid only for the version that was read. */
export function labelingPatch(
  { metadata: { uid, resourceVersion } }: PersistentVolume,
  labels: Labels,
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
