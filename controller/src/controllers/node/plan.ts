import { CLOUD_LABELS } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED, taintJson } from "../../api/well-known.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { Instance, InstanceResult } from "../../provider/model/instance.ts";
import { addressesPatch, planInitialAddresses, planNextAddresses } from "./plan/addresses.ts";
import {
  type Difference,
  type DroppedLabel,
  type LabelPlan,
  type LabelPolicies,
  mirrorBetaLabels,
  planInitialLabels,
  planLabels,
} from "./plan/labels.ts";

/** What of a machine goes onto its Node. */
export type Facts = Pick<Instance, "providerId" | "name" | "instanceType" | "zone" | "region" | "addresses" | "labels">;

/** What the cloud said last of the machine behind an initialised Node. */
export interface ObservedInstance {
  /** undefined: there is no such machine. */
  readonly facts: Facts | undefined;
  readonly namesake: Namesake;
}

/** The machine that has the Node's name. It is asked for when the one that has the Node's provider ID has another name, or is absent. */
export type Namesake =
  | { readonly kind: "unasked" }
  /** undefined: there is none. */
  | { readonly kind: "asked"; readonly providerId: string | undefined };

/** What a decision about one Node rests on. */
export type Input =
  | {
      readonly kind: "waiting";
      readonly node: Node;
      readonly answer: InstanceResult;
      readonly namesake: Namesake;
    }
  | {
      readonly kind: "initialized";
      readonly node: Node;
      /** undefined: nothing is known. */
      readonly observed: ObservedInstance | undefined;
      /** Other Nodes with the same provider ID. */
      readonly rivals: readonly string[];
    };

export type Plan =
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

/** Why a Node keeps its taint, in a word: label of a metric. */
export type WaitReason = "absent" | "addresses" | "labels" | "providerID" | "provider" | "unowned" | "write";

/** Why a Node keeps its taint, and whether its user can do something about it. */
export interface NotInitialized {
  readonly kind: "notInitialized";
  readonly node: Node;
  readonly reason: WaitReason;
  readonly message: string;
  readonly cause: ProviderError | undefined;
  /** True: said at once, for waiting does not help. False: said when it has lasted for a while. */
  readonly tell: boolean;
}

/** What has changed on an initialised Node, and what should have. */
export interface Update {
  readonly kind: "update";
  readonly node: Node;
  /** For nodes: labels, and which of them are ours; only if the Node is still the one of `node.metadata.resourceVersion`. */
  readonly labelsPatch: JsonObject | undefined;
  /** For nodes/status: addresses only. */
  readonly statusPatch: JsonObject | undefined;
  readonly differences: readonly Difference[];
  readonly droppedLabels: readonly DroppedLabel[];
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
}

/**
 * A machine this long unknown to a cloud that answers is reported in an event; before, it is the ordinary lag between a kubelet's
 * registration and what the cloud shows (a provider that knows its cloud to lag longer says NOT_YET_CONSISTENT).
 */
const ABSENT_IS_NEWS_AFTER_MS = 15_000;

/** What to do about one Node, given what its cloud says. */
export function plan(input: Input, nowMs: number, policies: LabelPolicies): Plan {
  return input.kind === "initialized" ? planUpdate(input, policies) : planWaiting(input, nowMs);
}

function planWaiting({ node, answer, namesake }: Extract<Input, { kind: "waiting" }>, nowMs: number): Plan {
  switch (answer.kind) {
    case "present":
      return planInitialize(node, answer.instance);
    case "absent": {
      const ageMs = nowMs - node.metadata.creationTimestampMs;
      const message = absentMessage(node, namesake);
      return notInitialized(node, "absent", message, { tell: ageMs >= ABSENT_IS_NEWS_AFTER_MS });
    }
    case "unknown": {
      const { error } = answer;
      const reason = isAboutIdentity(error) ? "providerID" : "provider";
      return notInitialized(node, reason, error.message, { cause: error, tell: isForGood(error) });
    }
    case "notOwned":
      return { kind: "leave", node, message: answer.message };
    default:
      return answer satisfies never;
  }
}

/** What turns a tainted Node into an initialised one, or why that cannot be. */
export function planInitialize(node: Node, instance: Instance): Initialize | NotInitialized {
  const providerID = node.spec.providerID === "" ? instance.providerId : node.spec.providerID;
  if (providerID === "") return notInitialized(node, "providerID", "the cloud gave the machine no provider ID");
  const addresses = planInitialAddresses(node, instance.addresses);
  if (addresses.kind === "mismatch") return notInitialized(node, "addresses", addresses.message);
  const labels = planInitialLabels(node.metadata, instance);
  if (typeof labels === "string") return notInitialized(node, "labels", labels);
  return {
    kind: "initialize",
    node,
    instance,
    statusPatch: addresses.kind === "write" ? addressesPatch(node, addresses.addresses) : undefined,
    nodePatch: initializedPatch(node, providerID, labels),
  };
}

/** Each field by its policy. What the cloud does not say, or a machine that it does not find, changes nothing. */
function planUpdate(
  { node, observed, rivals }: Extract<Input, { kind: "initialized" }>,
  policies: LabelPolicies,
): Update {
  const { metadata } = node;
  const { uid, resourceVersion } = metadata;
  const facts = observed?.facts;
  const labels = facts === undefined ? unknownLabels(node) : planLabels(metadata, facts, policies);
  const addresses = facts === undefined ? undefined : planNextAddresses(node, facts.addresses);
  const asked = observed?.namesake;
  const identity = providerIdDifference(node, {
    providerId: facts?.providerId,
    namesakeId: asked?.kind === "asked" ? asked.providerId : undefined,
    rivals,
  });
  const changes = metadataPatch(labels);
  return {
    kind: "update",
    node,
    labelsPatch: Object.keys(changes).length === 0 ? undefined : { metadata: { uid, resourceVersion, ...changes } },
    statusPatch: addresses?.kind === "write" ? addressesPatch(node, addresses.addresses) : undefined,
    differences: [
      ...(identity === undefined ? [] : [identity]),
      ...(addresses?.kind === "mismatch" ? [{ field: "addresses", message: addresses.message } as const] : []),
      ...labels.differences,
    ],
    droppedLabels: labels.dropped,
  };
}

function unknownLabels({ metadata }: Node): LabelPlan {
  return { changes: mirrorBetaLabels(metadata.labels), record: undefined, dropped: [], differences: [] };
}

function metadataPatch({ changes, record }: LabelPlan): JsonObject {
  return {
    ...(Object.keys(changes).length === 0 ? {} : { labels: changes }),
    ...(record === undefined ? {} : { annotations: { [CLOUD_LABELS]: record } }),
  };
}

/**
 * Strategic merge patch. `spec.taints` has no merge key on the server, so the whole list is sent; resourceVersion makes the server
 * refuse it if anybody has put on a taint meanwhile.
 */
function initializedPatch(node: Node, providerID: string, labels: LabelPlan): JsonObject {
  const { uid, resourceVersion } = node.metadata;
  const taints = node.spec.taints.filter(({ key }) => key !== UNINITIALIZED).map((taint) => taintJson(taint));
  return {
    metadata: { uid, resourceVersion, ...metadataPatch(labels) },
    spec: {
      ...(node.spec.providerID === providerID ? {} : { providerID }),
      taints: taints.length === 0 ? null : taints,
    },
  };
}

/** What only a change of this Node or its machine cures. */
function isAboutIdentity({ code, reason }: ProviderError): boolean {
  return code === "INVALID_ARGUMENT" || reason === "AMBIGUOUS_NAME";
}

/** Else it may pass by itself, and would be said of every Node. */
function isForGood(error: ProviderError): boolean {
  return error.class === "FINAL" || isAboutIdentity(error);
}

function absentMessage({ metadata, spec }: Node, namesake: Namesake): string {
  if (spec.providerID === "") return `the cloud knows no machine with the name ${metadata.name}`;
  const message = `the cloud knows no machine with the provider ID ${spec.providerID}`;
  if (namesake.kind === "unasked" || namesake.providerId === undefined) return message;
  if (isSameMachine(namesake.providerId, spec.providerID)) return message;
  return `${message}, but one of the name ${metadata.name} with ${namesake.providerId}`;
}

function notInitialized(
  node: Node,
  reason: WaitReason,
  message: string,
  { cause, tell }: { readonly cause?: ProviderError; readonly tell: boolean } = { tell: true },
): NotInitialized {
  return { kind: "notInitialized", node, reason, message, cause, tell };
}

/** What speaks for or against the machine that a Node names. */
export interface Identity {
  /** How the cloud calls the machine that it found by the Node's provider ID; undefined: it found none. */
  readonly providerId: string | undefined;
  /** Provider ID of the machine that has the Node's name; undefined: there is none, or it was not asked for. */
  readonly namesakeId: string | undefined;
  /** Names of other Nodes with the same provider ID. */
  readonly rivals: readonly string[];
}

/**
 * Why spec.providerID is probably not the machine's on which this kubelet runs; undefined: nothing speaks against it. That the machine
 * is called otherwise than the Node proves nothing: only if another one has the name, or another Node the ID, is something wrong.
 */
export function providerIdDifference(node: Node, identity: Identity): Difference | undefined {
  const message = mismatchMessage(node, identity);
  return message === undefined ? undefined : { field: "providerID", message };
}

const ADVICE =
  "the provider ID of a Node cannot be changed: see that its kubelet runs with the right --provider-id, delete the Node and let it register again";

function mismatchMessage({ metadata, spec }: Node, { providerId, namesakeId, rivals }: Identity): string | undefined {
  const { providerID } = spec;
  if (providerID === "") return undefined;
  const [rival] = rivals;
  if (rival !== undefined) {
    return `node ${rival} has the same provider ID ${providerID}, and a machine can be only one of them; ${ADVICE}`;
  }
  if (namesakeId !== undefined && !isSameMachine(namesakeId, providerID)) {
    const found = providerId === undefined ? "which the cloud does not know" : "which the cloud calls otherwise";
    return `the Node has provider ID ${providerID}, ${found}, while the machine of the name ${metadata.name} has ${namesakeId}; ${ADVICE}`;
  }
  if (providerId !== undefined && !isSameMachine(providerId, providerID)) {
    return `the Node has provider ID ${providerID}, the cloud gives this machine ${providerId}; ${ADVICE}`;
  }
  return undefined;
}

/** Clouds spell an ID in capitals or not, and providers have older prefixes: that is no other machine. */
export function isSameMachine(one: string, other: string): boolean {
  return restOf(one) === restOf(other);
}

function restOf(providerId: string): string {
  return providerId.slice(providerId.indexOf("://") + 1).toLowerCase();
}
