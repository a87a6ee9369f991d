import {
  FAILURE_DOMAIN_BETA_REGION,
  FAILURE_DOMAIN_BETA_ZONE,
  INSTANCE_TYPE,
  INSTANCE_TYPE_BETA,
  TOPOLOGY_REGION,
  TOPOLOGY_ZONE,
} from "../../../api/labels.ts";

type Labels = Readonly<Record<string, string>>;

/** What the cloud says that becomes labels. Absent or empty: the label is left alone. */
export interface LabelFacts {
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  /** Further labels, never overwriting. */
  readonly labels: Labels;
}

/** A label of the cloud that the Node does not get. */
export interface DroppedLabel {
  readonly key: string;
  readonly value: string;
  readonly why: "reserved" | "taken" | "invalid";
}

export type LabelPlan =
  | { readonly kind: "labels"; readonly changes: Labels; readonly dropped: readonly DroppedLabel[] }
  | { readonly kind: "invalid"; readonly message: string };

/** Old name, then the name that replaced it; both are written. */
const PAIRS = [
  {
    what: "instance type",
    beta: INSTANCE_TYPE_BETA,
    stable: INSTANCE_TYPE,
    of: (facts: LabelFacts) => facts.instanceType,
  },
  { what: "zone", beta: FAILURE_DOMAIN_BETA_ZONE, stable: TOPOLOGY_ZONE, of: (facts: LabelFacts) => facts.zone },
  {
    what: "region",
    beta: FAILURE_DOMAIN_BETA_REGION,
    stable: TOPOLOGY_REGION,
    of: (facts: LabelFacts) => facts.region,
  },
] as const;

/** Names that only Kubernetes may give: `x.kubernetes.io/y`, `k8s.io/y`. cloud-provider/controllers/node/node_controller.go v0.36.3. */
const RESERVED_KEY = /(^|\.)(kubernetes|k8s)\.io\//;

/**
 * Labels a Node gets at initialisation: type, zone and region overwrite what is there; further labels never do. Only what differs
 * is returned.
 */
export function planLabels(current: Labels, facts: LabelFacts): LabelPlan {
  const changes: Record<string, string> = {};
  for (const { what, beta, stable, of } of PAIRS) {
    const value = of(facts) ?? "";
    if (!isLabelValue(value)) {
      return { kind: "invalid", message: `the cloud's ${what} ${JSON.stringify(value)} cannot be a label value` };
    }
    for (const key of value === "" ? [] : [beta, stable]) if (current[key] !== value) changes[key] = value;
  }
  const dropped: DroppedLabel[] = [];
  for (const [key, value] of Object.entries(facts.labels)) {
    const why = refusal(key, value, current);
    if (why !== undefined) dropped.push({ key, value, why });
    else if (current[key] === undefined) changes[key] = value;
  }
  return { kind: "labels", changes, dropped };
}

/** Labels to make the newer name of each pair say what the beta name says; the beta label is the truth, as upstream. */
export function mirrorBetaLabels(current: Labels): Labels {
  const changes: Record<string, string> = {};
  for (const { beta, stable } of PAIRS) {
    const value = current[beta];
    if (value !== undefined && current[stable] !== value) changes[stable] = value;
  }
  return changes;
}

/** A label that is there with the same value is no refusal. */
function refusal(key: string, value: string, current: Labels): DroppedLabel["why"] | undefined {
  if (RESERVED_KEY.test(key)) return "reserved";
  const present = current[key];
  if (present !== undefined) return present === value ? undefined : "taken";
  return isLabelKey(key) && isLabelValue(value) ? undefined : "invalid";
}

/** apimachinery/pkg/util/validation/validation.go v0.36.3: at most 63 bytes, letters and digits at both ends. */
const LABEL_NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return LABEL_NAME.test(key);
  return DNS_SUBDOMAIN.test(key.slice(0, slash)) && LABEL_NAME.test(key.slice(slash + 1));
}

function isLabelValue(value: string): boolean {
  return value === "" || LABEL_NAME.test(value);
}
