/**
 * What becomes of a field that has a value when the cloud says another. Under every policy a value that is missing is written, and
 * initialisation writes what the cloud says.
 *
 * follow: the cloud's value is written; an edit is repaired. warn: the Node's value stays, and the difference is told. once: it stays,
 * and nothing is said.
 */
export type FieldPolicy = "once" | "follow" | "warn";

/** What of a Node the cloud knows better. */
export type Field = "providerID" | "addresses" | "instanceType" | "zone" | "region" | "labels";

export interface FieldRule {
  /** Where it is on the Node. */
  readonly target: string;
  readonly policy: FieldPolicy;
  readonly why: string;
}

/** One rule for each field; docs/explanation/nodes.md shows the same table. */
export const FIELD_RULES: Readonly<Record<Field, FieldRule>> = {
  providerID: {
    target: "`spec.providerID`",
    policy: "warn",
    why: "the server lets nobody change it; a Node that carries another machine's is a mistake only its owner can put right",
  },
  addresses: {
    target: "`status.addresses`",
    policy: "follow",
    why: "traffic to an address of the past is lost",
  },
  instanceType: {
    target: "`node.kubernetes.io/instance-type`, `beta.kubernetes.io/instance-type`",
    policy: "follow",
    why: "machines are resized in place, and schedulers and cost reports go by it",
  },
  zone: {
    target: "`topology.kubernetes.io/zone`, `failure-domain.beta.kubernetes.io/zone`",
    policy: "warn",
    why: "volumes and running pods are bound to it; Kubernetes lets everybody assume that it does not change",
  },
  region: {
    target: "`topology.kubernetes.io/region`, `failure-domain.beta.kubernetes.io/region`",
    policy: "warn",
    why: "as for the zone",
  },
  labels: {
    target: "further labels that the provider sends",
    policy: "follow",
    why: "tags change, machines migrate between hosts; a label that somebody else put there stays as it is",
  },
};

/** The policies of the labels that say what a machine is and where. */
export type LabelPolicies = Readonly<Record<"instanceType" | "zone" | "region", FieldPolicy>>;

/** @param topology for zone and region (--node-topology-policy) */
export function labelPolicies(topology: FieldPolicy): LabelPolicies {
  return { instanceType: FIELD_RULES.instanceType.policy, zone: topology, region: topology };
}

/** Something that the cloud says and the Node does not show. */
export interface Difference {
  readonly field: Field;
  /** Both values, and what to do, for people. */
  readonly message: string;
}
