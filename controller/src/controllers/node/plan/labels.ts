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

/** Instance data that becomes labels. Absent or empty: the label is not changed. */
export interface LabelFacts {
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  readonly labels: Labels;
}

export type Labeled = Pick<ObjectMeta, "name" | "labels" | "annotations">;

export interface DroppedLabel {
  readonly key: string;
  readonly value: string;
  readonly reason: "reserved" | "invalid";
}

export interface LabelPlan {
  readonly changes: Labels;
  readonly record: string | undefined;
  readonly dropped: readonly DroppedLabel[];
  readonly differences: readonly Difference[];
}

/** Deprecated name and the name that replaced it. Both are written. */
const PAIRS = [
  { field: "instanceType", title: "instance type", beta: INSTANCE_TYPE_BETA, stable: INSTANCE_TYPE },
  { field: "zone", title: "zone", beta: FAILURE_DOMAIN_BETA_ZONE, stable: TOPOLOGY_ZONE },
  { field: "region", title: "region", beta: FAILURE_DOMAIN_BETA_REGION, stable: TOPOLOGY_REGION },
] as const;

type Pair = (typeof PAIRS)[number];

/** Labels at initialization: type, zone and region overwrite existing values, as upstream. A string is the reason why one is invalid. */
export function planInitialLabels(node: Labeled, facts: LabelFacts): LabelPlan | string {
  const changes: Record<string, string> = {};
  for (const pair of PAIRS) {
    const value = facts[pair.field] ?? "";
    if (!isLabelValue(value)) return invalid(pair, value);
    if (value !== "") Object.assign(changes, setBoth(pair, value, node.labels));
  }
  const further = planFurtherLabels(node, facts.labels);
  return { ...further, changes: { ...changes, ...further.changes } };
}

export function planLabels(node: Labeled, facts: LabelFacts, policies: LabelPolicies): LabelPlan {
  const pairs = PAIRS.map((pair) => planPair(pair, node, facts[pair.field] ?? "", policies[pair.field]));
  const further = planFurtherLabels(node, facts.labels);
  return {
    ...further,
    changes: Object.assign({}, ...pairs.map(({ changes }) => changes), further.changes),
    differences: [...pairs.flatMap(({ difference }) => difference ?? []), ...further.differences],
  };
}

/** Copies each beta label to its newer name when the cloud's value is not known, as upstream. */
export function mirrorBetaLabels(current: Labels): Labels {
  return Object.assign({}, ...PAIRS.map((pair) => mirror(pair, current)));
}

interface PairPlan {
  readonly changes: Labels;
  readonly difference?: Difference;
}

function planPair(pair: Pair, { name, labels }: Labeled, value: string, policy: FieldPolicy): PairPlan {
  const { field, title, beta, stable } = pair;
  if (value === "") return { changes: mirror(pair, labels) };
  if (!isLabelValue(value)) {
    return { changes: mirror(pair, labels), difference: { field, message: invalid(pair, value) } };
  }
  const shown = labels[beta] ?? labels[stable];
  // A client that wrote the cloud's value to one of the two labels has accepted the change.
  const agrees = labels[beta] === value || labels[stable] === value;
  if (policy === "follow" || shown === undefined || agrees) return { changes: setBoth(pair, value, labels) };
  const changes = mirror(pair, labels);
  if (policy === "ignore") return { changes };
  const accept = `kubectl label node ${name} ${stable}=${value} --overwrite`;
  const message = `the cloud reports ${title} ${value}, but label ${stable} is ${shown} and is not changed; to accept the change: ${accept}`;
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

function invalid({ title }: Pair, value: string): string {
  return `the cloud's ${title} ${JSON.stringify(value)} is not a valid label value`;
}

/**
 * Label keys reserved for Kubernetes: `x.kubernetes.io/y`, `k8s.io/y`. cloud-provider/controllers/node/node_controller.go v0.36.3. And ours:
 * `cloudwire.dev/y`.
 */
const RESERVED_KEY = /(^|\.)(kubernetes|k8s)\.io\/|^cloudwire\.dev\//;

/**
 * A missing label is set and recorded as ours; one of ours follows the cloud; one set by another client is not changed. A label that the
 * provider no longer reports is kept too, because removing it could evict DaemonSet pods.
 */
function planFurtherLabels({ name, labels: current, annotations }: Labeled, cloud: Labels): LabelPlan {
  const ours = new Set((annotations[CLOUD_LABELS] ?? "").split(","));
  const changes: Record<string, string> = {};
  const dropped: DroppedLabel[] = [];
  const differences: Difference[] = [];
  for (const [key, value] of Object.entries(cloud)) {
    const present = current[key];
    if (RESERVED_KEY.test(key)) dropped.push({ key, value, reason: "reserved" });
    else if (present === value) continue;
    else if (!isLabelKey(key) || !isLabelValue(value)) dropped.push({ key, value, reason: "invalid" });
    else if (present === undefined || ours.has(key)) changes[key] = value;
    else differences.push({ field: "labels", message: taken(name, key, value, present) });
  }
  return { changes, record: newRecord(ours, changes, current), dropped, differences };
}

/** Our label keys, sorted, so that the same set has the same text. */
function newRecord(ours: ReadonlySet<string>, changes: Labels, current: Labels): string | undefined {
  const added = Object.keys(changes).filter((key) => !ours.has(key));
  if (added.length === 0) return undefined;
  const kept = [...ours].filter((key) => key in current || key in changes);
  return [...kept, ...added].toSorted().join(",");
}

function taken(name: string, key: string, value: string, present: string): string {
  return `the cloud reports label ${key}=${JSON.stringify(value)}, but another client has set it to ${JSON.stringify(present)} and it is not changed; to let it follow the cloud: kubectl label node ${name} ${key}-`;
}

/**
 * What happens when the Node's value of a field differs from the cloud's. follow: the cloud's value is written, and edits are repaired.
 * warn: the Node's value is kept and the difference is reported. once: it is kept and not reported. Missing values are always written, and
 * initialization always writes the cloud's values.
 */
export type FieldPolicy = "ignore" | "follow" | "warn";

export type Field = "providerID" | "addresses" | "instanceType" | "zone" | "region" | "labels";

export interface FieldRule {
  readonly target: string;
  readonly policy: FieldPolicy;
  readonly why: string;
}

/** docs/explanation/nodes.md has the same table. */
export const FIELD_RULES: Readonly<Record<Field, FieldRule>> = {
  providerID: {
    target: "`spec.providerID`",
    policy: "warn",
    why: "it cannot be changed; if it names the wrong instance, only an operator can fix the Node",
  },
  addresses: {
    target: "`status.addresses`",
    policy: "follow",
    why: "traffic to an outdated address is lost",
  },
  instanceType: {
    target: "`node.kubernetes.io/instance-type`, `beta.kubernetes.io/instance-type`",
    policy: "follow",
    why: "instances are resized in place, and schedulers and cost reports use it",
  },
  zone: {
    target: "`topology.kubernetes.io/zone`, `failure-domain.beta.kubernetes.io/zone`",
    policy: "warn",
    why: "volumes and running pods are bound to it; Kubernetes components assume that it does not change",
  },
  region: {
    target: "`topology.kubernetes.io/region`, `failure-domain.beta.kubernetes.io/region`",
    policy: "warn",
    why: "same as for the zone",
  },
  labels: {
    target: "additional labels that the provider reports",
    policy: "follow",
    why: "tags change, and instances migrate between hosts; a label set by another client is not changed",
  },
};

export type LabelPolicies = Readonly<Record<"instanceType" | "zone" | "region", FieldPolicy>>;

export function labelPolicies(topology: FieldPolicy): LabelPolicies {
  return { instanceType: FIELD_RULES.instanceType.policy, zone: topology, region: topology };
}

export interface Difference {
  readonly field: Field;
  readonly message: string;
}
