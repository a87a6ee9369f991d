import { CLOUD_LABELS } from "../../../api/annotations.ts";
import { isLabelKey, isLabelValue } from "../../../api/labels.ts";
import type { ObjectMeta } from "../../../api/meta.ts";
import {
  FAILURE_DOMAIN_BETA_REGION,
  FAILURE_DOMAIN_BETA_ZONE,
  INSTANCE_TYPE,
  INSTANCE_TYPE_BETA,
  TOPOLOGY_REGION,
  TOPOLOGY_ZONE,
} from "../../../api/well-known.ts";

type Labels = Readonly<Record<string, string>>;

/** What the cloud says that becomes labels. Absent or empty: the label is left alone. */
export interface LabelFacts {
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  /** Further labels. */
  readonly labels: Labels;
}

/** The part of a Node that labels are planned from. */
export type Labeled = Pick<ObjectMeta, "name" | "labels" | "annotations">;

/** A further label of the cloud that the Node does not get, through no fault of the Node's. */
export interface DroppedLabel {
  readonly key: string;
  readonly value: string;
  readonly why: "reserved" | "invalid";
}

export interface LabelPlan {
  /** Labels to write; none is ever removed. */
  readonly changes: Labels;
  /** New value of annotation CLOUD_LABELS; undefined: as it is. */
  readonly record: string | undefined;
  readonly dropped: readonly DroppedLabel[];
  readonly differences: readonly Difference[];
}

/** Old name, then the name that replaced it; both are written. */
const PAIRS = [
  { field: "instanceType", what: "instance type", beta: INSTANCE_TYPE_BETA, stable: INSTANCE_TYPE },
  { field: "zone", what: "zone", beta: FAILURE_DOMAIN_BETA_ZONE, stable: TOPOLOGY_ZONE },
  { field: "region", what: "region", beta: FAILURE_DOMAIN_BETA_REGION, stable: TOPOLOGY_REGION },
] as const;

type Pair = (typeof PAIRS)[number];

/**
 * Labels a Node gets at initialisation: type, zone and region overwrite what is there, as upstream. A text says which of them the
 * server would refuse.
 */
export function planInitialLabels(node: Labeled, facts: LabelFacts): LabelPlan | string {
  const changes: Record<string, string> = {};
  for (const pair of PAIRS) {
    const value = facts[pair.field] ?? "";
    if (!isLabelValue(value)) return impossible(pair, value);
    if (value !== "") Object.assign(changes, setBoth(pair, value, node.labels));
  }
  const further = planFurtherLabels(node, facts.labels);
  return { ...further, changes: { ...changes, ...further.changes } };
}

/** What becomes of the labels of a Node that has been initialised, each by its policy. */
export function planLabels(node: Labeled, facts: LabelFacts, policies: LabelPolicies): LabelPlan {
  const pairs = PAIRS.map((pair) => planPair(pair, node, facts[pair.field] ?? "", policies[pair.field]));
  const further = planFurtherLabels(node, facts.labels);
  return {
    ...further,
    changes: Object.assign({}, ...pairs.map(({ changes }) => changes), further.changes),
    differences: [...pairs.flatMap(({ difference }) => difference ?? []), ...further.differences],
  };
}

/**
 * Labels to make the newer name of each pair say what the beta name says, for want of the cloud's word: then the beta label is the
 * truth, as upstream.
 */
export function mirrorBetaLabels(current: Labels): Labels {
  return Object.assign({}, ...PAIRS.map((pair) => mirror(pair, current)));
}

interface PairPlan {
  readonly changes: Labels;
  readonly difference?: Difference;
}

function planPair(pair: Pair, { name, labels }: Labeled, value: string, policy: FieldPolicy): PairPlan {
  const { field, what, beta, stable } = pair;
  if (value === "") return { changes: mirror(pair, labels) };
  if (!isLabelValue(value)) {
    return { changes: mirror(pair, labels), difference: { field, message: impossible(pair, value) } };
  }
  const shown = labels[beta] ?? labels[stable];
  // One of the two says what the cloud says: whoever wrote it has accepted the change.
  const agrees = labels[beta] === value || labels[stable] === value;
  if (policy === "follow" || shown === undefined || agrees) return { changes: setBoth(pair, value, labels) };
  const changes = mirror(pair, labels);
  if (policy === "ignore") return { changes };
  const accept = `kubectl label node ${name} ${stable}=${value} --overwrite`;
  const message = `the cloud says that the ${what} is ${value}, the label ${stable} says ${shown} and is left alone; to accept the change: ${accept}`;
  return { changes, difference: { field, message } };
}

function mirror({ beta, stable }: Pair, current: Labels): Labels {
  const value = current[beta];
  return value === undefined || current[stable] === value ? {} : { [stable]: value };
}

function setBoth({ beta, stable }: Pair, value: string, current: Labels): Labels {
  const changes: Record<string, string> = {};
  for (const key of [beta, stable]) if (current[key] !== value) changes[key] = value;
  return changes;
}

function impossible({ what }: Pair, value: string): string {
  return `the cloud's ${what} ${JSON.stringify(value)} cannot be a label value`;
}

/** Names that only Kubernetes may give: `x.kubernetes.io/y`, `k8s.io/y`. cloud-provider/controllers/node/node_controller.go v0.36.3. */
const RESERVED_KEY = /(^|\.)(kubernetes|k8s)\.io\//;

/**
 * A label that is missing is set and recorded as ours; one of ours follows the cloud; one that somebody else set stays. What the
 * provider does not send any more stays too: not to say a label is not to say that it shall go, and DaemonSets evict by labels.
 */
function planFurtherLabels({ name, labels: current, annotations }: Labeled, cloud: Labels): LabelPlan {
  const ours = new Set((annotations[CLOUD_LABELS] ?? "").split(","));
  const changes: Record<string, string> = {};
  const dropped: DroppedLabel[] = [];
  const differences: Difference[] = [];
  for (const [key, value] of Object.entries(cloud)) {
    const present = current[key];
    if (RESERVED_KEY.test(key)) dropped.push({ key, value, why: "reserved" });
    else if (present === value) continue;
    else if (!isLabelKey(key) || !isLabelValue(value)) dropped.push({ key, value, why: "invalid" });
    else if (present === undefined || ours.has(key)) changes[key] = value;
    else differences.push({ field: "labels", message: taken(name, key, value, present) });
  }
  return { changes, record: newRecord(ours, changes, current), dropped, differences };
}

/** Keys of labels that the Node has and that are ours, sorted, so that the same set is the same text. */
function newRecord(ours: ReadonlySet<string>, changes: Labels, current: Labels): string | undefined {
  const added = Object.keys(changes).filter((key) => !ours.has(key));
  if (added.length === 0) return undefined;
  const kept = [...ours].filter((key) => key in current || key in changes);
  return [...kept, ...added].toSorted().join(",");
}

function taken(name: string, key: string, value: string, present: string): string {
  return `the cloud says that label ${key} is ${JSON.stringify(value)}, somebody else has set it to ${JSON.stringify(present)} and it is left alone; to let it follow the cloud: kubectl label node ${name} ${key}-`;
}

/**
 * What becomes of a field that has a value when the cloud says another. Under every policy a value that is missing is written, and
 * initialisation writes what the cloud says.
 *
 * follow: the cloud's value is written; an edit is repaired. warn: the Node's value stays, and the difference is reported. once: it stays,
 * and nothing is said.
 */
export type FieldPolicy = "ignore" | "follow" | "warn";

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
