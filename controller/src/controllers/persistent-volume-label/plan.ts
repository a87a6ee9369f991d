import {
  type NodeSelectorTerm,
  PLACEHOLDER_VOLUME_ID,
  PROVISIONED_BY,
  type PersistentVolume,
  type VolumeSource,
} from "../../api/persistent-volume.ts";
import {
  FAILURE_DOMAIN_BETA_REGION,
  FAILURE_DOMAIN_BETA_ZONE,
  TOPOLOGY_REGION,
  TOPOLOGY_ZONE,
} from "../../api/well-known.ts";
import type { VolumeKnowledge } from "../../provider/lookup/volume-reader.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { TopologyTerm } from "../../provider/model/volume.ts";
import { deepEqual } from "../../util/equal.ts";
import { type FactsResult, type VolumeFacts, factsOf, provisionedFacts, zonesOfLabel } from "./plan/labels.ts";

type Labels = Readonly<Record<string, string>>;

/** How to find out about a volume. */
export type Lookup =
  | { readonly kind: "none" }
  | { readonly kind: "provisioned"; readonly result: FactsResult }
  | { readonly kind: "query"; readonly source: VolumeSource };

export function lookupOf(pv: PersistentVolume): Lookup {
  const { source } = pv.spec;
  if (source === undefined || isUnnamed(source)) return { kind: "none" };
  const result = provisionedFacts(pv);
  return result === undefined ? { kind: "query", source } : { kind: "provisioned", result };
}

function isUnnamed(source: VolumeSource): boolean {
  if (source.kind === "csi") return source.driver === "" || source.volumeHandle === "";
  return source.volumeId === "" || source.volumeId === PLACEHOLDER_VOLUME_ID;
}

export interface AdmissionPlan {
  readonly labels: Labels;
  /** Added to every existing term; empty: the affinity is not changed. */
  readonly topology: readonly TopologyTerm[];
  readonly warnings: readonly string[];
}

/**
 * The cloud's labels overwrite the user's. Its topology is added to every term of the node affinity, unless a term contains one of its keys,
 * because then the user has decided. plugin/pkg/admission/storage/persistentvolume/label/admission.go v1.30.
 */
export function planAdmission(pv: PersistentVolume, facts: VolumeFacts): AdmissionPlan {
  const current = pv.metadata.labels;
  const changes = Object.entries(facts.labels).filter(([key, value]) => current[key] !== value);
  const replaced = changes
    .filter(([key]) => current[key] !== undefined)
    .map(([key, value]) => `label ${key}="${current[key]}" was replaced with "${value}" from the cloud`);
  const excluded = contradiction(pv, facts);
  return {
    labels: Object.fromEntries(changes),
    topology: mentions(termsOf(pv), facts.topology) ? [] : facts.topology,
    warnings: [...replaced, ...facts.dropped, ...(excluded === undefined ? [] : [excluded])],
  };
}

export type LabelingPlan =
  | { readonly kind: "none" }
  /** It conflicts with the cloud, and only an operator can decide: nothing is changed. */
  | { readonly kind: "mismatch"; readonly message: string }
  | { readonly kind: "label"; readonly labels: Labels; readonly topology: readonly TopologyTerm[] };

/** Adds what is missing, and changes nothing. The API server does not allow changes of an existing node affinity. */
export function planLabeling(pv: PersistentVolume, facts: VolumeFacts): LabelingPlan {
  const current = pv.metadata.labels;
  const mismatches = [...labelMismatches(current, facts), contradiction(pv, facts)].filter((one) => one !== undefined);
  if (mismatches.length > 0) return { kind: "mismatch", message: mismatches.join("; ") };
  const missing = Object.entries(facts.labels).filter(([key]) => current[key] === undefined);
  const topology = pv.spec.nodeAffinity === undefined ? facts.topology : [];
  if (missing.length === 0 && topology.length === 0) return { kind: "none" };
  return { kind: "label", labels: Object.fromEntries(missing), topology };
}

/** Newer and deprecated name. */
const TOPOLOGY_LABELS = [
  [TOPOLOGY_ZONE, FAILURE_DOMAIN_BETA_ZONE],
  [TOPOLOGY_REGION, FAILURE_DOMAIN_BETA_REGION],
] as const;

function labelMismatches(current: Labels, { labels }: VolumeFacts): readonly string[] {
  return TOPOLOGY_LABELS.flatMap(([stable, beta]) =>
    [stable, beta].flatMap((key) => {
      const [said, known] = [current[key], labels[stable]];
      if (said === undefined || known === undefined || deepEqual(zonesOfLabel(said), zonesOfLabel(known))) return [];
      return [`label ${key} is "${said}", but "${known}" in the cloud`];
    }),
  );
}

/** The conflict if the affinity allows no node that reaches the volume; undefined: it may allow some. */
function contradiction(pv: PersistentVolume, { topology }: VolumeFacts): string | undefined {
  const terms = termsOf(pv);
  if (terms.length === 0 || topology.length === 0) return undefined;
  if (terms.some((term) => topology.some((known) => agree(term, known)))) return undefined;
  const said = topology.map((term) => term.map(({ key, values }) => `${key} in (${values.join(", ")})`).join(" and "));
  return `its node affinity allows no node that can reach the volume: ${said.join(" or ")}`;
}

function agree({ matchExpressions }: NodeSelectorTerm, known: TopologyTerm): boolean {
  return matchExpressions.every(({ key, operator, values }) => {
    const wanted = known.find((one) => one.key === key);
    if (wanted === undefined) return true;
    if (operator === "In") return wanted.values.some((value) => values.includes(value));
    if (operator === "NotIn") return wanted.values.some((value) => !values.includes(value));
    return operator !== "DoesNotExist";
  });
}

function mentions(terms: readonly NodeSelectorTerm[], topology: readonly TopologyTerm[]): boolean {
  const keys = new Set(topology.flat().map(({ key }) => key));
  return terms.some(({ matchExpressions }) => matchExpressions.some(({ key }) => keys.has(key)));
}

function termsOf({ spec }: PersistentVolume): readonly NodeSelectorTerm[] {
  return spec.nodeAffinity?.terms ?? [];
}

export interface Input {
  readonly pv: PersistentVolume;
  readonly known: VolumeKnowledge | { readonly kind: "provisioned"; readonly result: FactsResult };
}

export type OutcomePlan = { readonly pv: PersistentVolume } & (
  | { readonly kind: "leave" }
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "label";
      readonly labels: Readonly<Record<string, string>>;
      readonly topology: readonly TopologyTerm[];
    }
  | { readonly kind: "mismatch"; readonly message: string }
  | { readonly kind: "invalid"; readonly result: "absent" | "invalid" | "unknown"; readonly message: string }
  | { readonly kind: "retry"; readonly error: ProviderError }
);

export function planOutcome({ pv, known }: Input): OutcomePlan {
  switch (known.kind) {
    case "present":
      return withFacts(pv, factsOf(known.volume));
    case "provisioned":
      return withFacts(pv, known.result);
    case "notOwned":
      return { kind: "leave", pv };
    case "absent":
      return { kind: "invalid", pv, result: "absent", message: `the cloud has no ${describeVolume(pv.spec.source)}` };
    case "undecided":
      return { kind: "retry", pv, error: known.error };
    case "unknown":
      return withoutAnswer(pv, known.error);
  }
  return known satisfies never;
}

function withFacts(pv: PersistentVolume, result: FactsResult): OutcomePlan {
  if (result.kind === "invalid") return { kind: "invalid", pv, result: "invalid", message: result.message };
  const plan = planLabeling(pv, result.facts);
  return plan.kind === "none" ? { kind: "unchanged", pv } : { ...plan, pv };
}

/** A FINAL error is not retried. */
function withoutAnswer(pv: PersistentVolume, error: ProviderError): OutcomePlan {
  if (error.class !== "FINAL") return { kind: "retry", pv, error };
  const message = `${describeVolume(pv.spec.source)} cannot be looked up: ${error.message}`;
  return { kind: "invalid", pv, result: "unknown", message };
}

export function describeVolume(source: VolumeSource | undefined): string {
  switch (source?.kind) {
    case undefined:
      return "volume";
    case "csi":
      return `volume ${source.volumeHandle} of CSI driver ${source.driver}`;
    case "inTree":
      return `volume ${source.volumeId} of plugin ${source.plugin}`;
  }
  return source satisfies never;
}

/** Something that its labels and node affinity depend on. Claims and finalizers do not matter. */
export function changesLabeling(old: PersistentVolume, pv: PersistentVolume): boolean {
  return !deepEqual(relevant(old), relevant(pv));
}

function relevant({ metadata: { uid, labels, annotations }, spec }: PersistentVolume): unknown {
  return [uid, labels, annotations[PROVISIONED_BY], spec];
}
