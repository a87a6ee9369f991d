import type { PersistentVolume, VolumeSource } from "../../../api/persistent-volume.ts";
import type { ProviderError } from "../../../provider/model/errors.ts";
import type { TopologyTerm } from "../../../provider/model/volume.ts";
import type { Input } from "../gather.ts";
import { planLabelling } from "../plan.ts";
import { type FactsResult, factsOf } from "./labels.ts";

/** What to do about a PersistentVolume that has been there for a while. */
export type OutcomePlan = { readonly pv: PersistentVolume } & (
  | { readonly kind: "leave" }
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "label";
      readonly labels: Readonly<Record<string, string>>;
      readonly topology: readonly TopologyTerm[];
    }
  | { readonly kind: "mismatch"; readonly message: string }
  /** Nothing can be put on it, until it changes. */
  | { readonly kind: "hopeless"; readonly outcome: "absent" | "invalid" | "unknown"; readonly message: string }
  | { readonly kind: "retry"; readonly error: ProviderError }
);

/** From what is known to what is done. */
export function planOutcome({ pv, known }: Input): OutcomePlan {
  switch (known.kind) {
    case "present":
      return withFacts(pv, factsOf(known.volume));
    case "provisioned":
      return withFacts(pv, known.result);
    case "notMine":
      return { kind: "leave", pv };
    case "absent":
      return { kind: "hopeless", pv, outcome: "absent", message: `the cloud has no ${describeVolume(pv.spec.source)}` };
    case "undecided":
      return { kind: "retry", pv, error: known.error };
    case "unknown":
      return withoutAnswer(pv, known.error);
  }
  return known satisfies never;
}

function withFacts(pv: PersistentVolume, result: FactsResult): OutcomePlan {
  if (result.kind === "invalid") return { kind: "hopeless", pv, outcome: "invalid", message: result.message };
  const plan = planLabelling(pv, result.facts);
  return plan.kind === "nothing" ? { kind: "unchanged", pv } : { ...plan, pv };
}

/** FINAL: the same question will get the same answer. */
function withoutAnswer(pv: PersistentVolume, error: ProviderError): OutcomePlan {
  if (error.class !== "FINAL") return { kind: "retry", pv, error };
  const message = `${describeVolume(pv.spec.source)} cannot be looked up: ${error.message}`;
  return { kind: "hopeless", pv, outcome: "unknown", message };
}

/** For messages. */
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
