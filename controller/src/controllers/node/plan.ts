import type { Node } from "../../api/node.ts";
import { UNINITIALIZED, taintJson } from "../../api/taints.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/errors.ts";
import type { Instance, InstanceAnswer } from "../../provider/instance.ts";
import { addressesPatch, planAddresses } from "./plan/addresses.ts";
import { type DroppedLabel, mirrorBetaLabels, planLabels } from "./plan/labels.ts";
import { isUninitialized } from "./predicates.ts";

/** What a decision about one Node rests on. */
export interface Input {
  readonly node: Node;
  /** undefined: the cloud was not asked, for the Node has its facts and they are not due. */
  readonly answer: InstanceAnswer | undefined;
}

export type Plan =
  | { readonly kind: "nothing" }
  /** The machine is another provider's, or nobody's: not ours to touch. */
  | Leave
  /** Not possible now. */
  | NotInitialized
  | Initialize
  | Update;

/** A tainted Node that is no provider's. */
export interface Leave {
  readonly kind: "leave";
  readonly node: Node;
  readonly message: string;
}

/** Why a Node keeps its taint, and whether its user can do something about it. */
export interface NotInitialized {
  readonly kind: "notInitialized";
  readonly node: Node;
  readonly message: string;
  readonly cause: Error | undefined;
  /** True: said in an event, for only somebody at this Node or its machine can help. */
  readonly tell: boolean;
}

/** What has changed on an initialised Node. */
export interface Update {
  readonly kind: "update";
  readonly node: Node;
  /** For nodes: labels only. */
  readonly labelsPatch: JsonObject | undefined;
  /** For nodes/status: addresses only. */
  readonly statusPatch: JsonObject | undefined;
  /** Why the addresses stay as they are although the cloud has others. */
  readonly warning: string | undefined;
}

/** Everything the cloud's facts change on a Node, the taint last. */
export interface Initialize {
  readonly kind: "initialize";
  readonly node: Node;
  readonly instance: Instance;
  /** For nodes/status, to be written first: whoever tolerates no taint must find the addresses there. undefined: they are. */
  readonly statusPatch: JsonObject | undefined;
  /** For nodes: providerID, labels, taints; only if the Node is still the one of `node.metadata.resourceVersion`. */
  readonly nodePatch: JsonObject;
  readonly droppedLabels: readonly DroppedLabel[];
}

/**
 * A machine this long unknown to a cloud that answers is told in an event; before, it is the ordinary lag between a kubelet's
 * registration and what the cloud shows (a provider that knows its cloud to lag longer says NOT_YET_CONSISTENT).
 */
const ABSENT_IS_NEWS_AFTER_MS = 15_000;

/** What to do about one Node, given what its cloud says. */
export function plan({ node, answer }: Input, nowMs: number): Plan {
  if (!isUninitialized(node)) return planUpdate(node, answer);
  if (answer === undefined) return { kind: "nothing" };
  switch (answer.kind) {
    case "present":
      return planInitialize(node, answer.instance);
    case "absent": {
      const ageMs = nowMs - node.metadata.creationTimestampMs;
      return notInitialized(node, absentMessage(node), undefined, ageMs >= ABSENT_IS_NEWS_AFTER_MS);
    }
    case "unknown":
      return notInitialized(node, answer.error.message, answer.error, isAboutThisNode(answer.error));
    case "notMine":
      return { kind: "leave", node, message: answer.message };
    default:
      return answer satisfies never;
  }
}

/** What turns a tainted Node into an initialised one, or why that cannot be. */
export function planInitialize(node: Node, instance: Instance): Initialize | NotInitialized {
  const providerID = node.spec.providerID === "" ? instance.providerId : node.spec.providerID;
  if (providerID === "") return notInitialized(node, "the cloud gave the machine no provider ID", undefined, true);
  const addresses = planAddresses(node, instance.addresses);
  if (addresses.kind === "mismatch") return notInitialized(node, addresses.message, undefined, true);
  const labels = planLabels(node.metadata.labels, instance);
  if (labels.kind === "invalid") return notInitialized(node, labels.message, undefined, true);
  return {
    kind: "initialize",
    node,
    instance,
    statusPatch: addresses.kind === "write" ? addressesPatch(node, addresses.addresses) : undefined,
    nodePatch: initializedPatch(node, providerID, labels.changes),
    droppedLabels: labels.dropped,
  };
}

/**
 * Addresses follow the cloud, labels do not: upstream sets them once. What the cloud does not know, or says is not there, changes
 * nothing here.
 */
function planUpdate(node: Node, answer: InstanceAnswer | undefined): Plan {
  const labels = mirrorBetaLabels(node.metadata.labels);
  const addresses = answer?.kind === "present" ? planAddresses(node, answer.instance.addresses) : undefined;
  const update: Update = {
    kind: "update",
    node,
    labelsPatch: Object.keys(labels).length === 0 ? undefined : { metadata: { uid: node.metadata.uid, labels } },
    statusPatch: addresses?.kind === "write" ? addressesPatch(node, addresses.addresses) : undefined,
    warning: addresses?.kind === "mismatch" ? addresses.message : undefined,
  };
  const { labelsPatch, statusPatch, warning } = update;
  return labelsPatch === undefined && statusPatch === undefined && warning === undefined ? { kind: "nothing" } : update;
}

/**
 * Strategic merge patch. `spec.taints` has no merge key on the server, so the whole list is sent; resourceVersion makes the server
 * refuse it if anybody has put on a taint meanwhile.
 */
function initializedPatch(node: Node, providerID: string, labels: Readonly<Record<string, string>>): JsonObject {
  const { uid, resourceVersion } = node.metadata;
  const taints = node.spec.taints.filter(({ key }) => key !== UNINITIALIZED).map((taint) => taintJson(taint));
  return {
    metadata: { uid, resourceVersion, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    spec: {
      ...(node.spec.providerID === providerID ? {} : { providerID }),
      taints: taints.length === 0 ? null : taints,
    },
  };
}

/** What only a change of this Node or its machine cures. All else is the provider's or the cloud's, and would be said of every Node. */
function isAboutThisNode({ code, reason }: ProviderError): boolean {
  return code === "INVALID_ARGUMENT" || reason === "AMBIGUOUS_NAME";
}

function absentMessage({ metadata, spec }: Node): string {
  const by = spec.providerID === "" ? `the name ${metadata.name}` : `the provider ID ${spec.providerID}`;
  return `the cloud knows no machine with ${by}`;
}

function notInitialized(node: Node, message: string, cause: Error | undefined, tell: boolean): NotInitialized {
  return { kind: "notInitialized", node, message, cause, tell };
}
