import { CLOUD_LABELS } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED, taintJson } from "../../api/well-known.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { Instance, InstanceResult } from "../../provider/model/instance.ts";
import { isSameInstance } from "../../util/values/provider-id.ts";
import {
  type AddressPlan,
  addressesPatch,
  hasNoAddress,
  needsAddress,
  planInitialAddresses,
  planNextAddresses,
} from "./plan/addresses.ts";
import {
  type Difference,
  type DroppedLabel,
  type LabelPlan,
  type LabelPolicies,
  mirrorBetaLabels,
  planInitialLabels,
  planLabels,
} from "./plan/labels.ts";

/** The instance data that goes onto a Node. */
export type InstanceData = Pick<
  Instance,
  "providerId" | "name" | "instanceType" | "zone" | "region" | "addresses" | "labels"
>;

/** The instance behind an initialized Node, as last observed. */
export interface ObservedInstance {
  /** undefined: the instance does not exist. */
  readonly instance: InstanceData | undefined;
  readonly byName: InstanceByName;
}

/**
 * The instance that has the Node's name. It is queried when the instance with the Node's provider ID has another name or does not exist.
 * `providerId` is undefined if no instance has the name.
 */
export type InstanceByName =
  | { readonly kind: "notQueried" }
  | { readonly kind: "queried"; readonly providerId: string | undefined };

export type Input =
  | {
      readonly kind: "waiting";
      readonly node: Node;
      readonly result: InstanceResult;
      readonly byName: InstanceByName;
      /** How long the cloud has reported the instance without IP address. */
      readonly noAddressForMs: number;
    }
  | {
      readonly kind: "initialized";
      readonly node: Node;
      readonly observed: ObservedInstance | undefined;
      readonly duplicates: readonly string[];
    };

export type Plan = Leave | NotInitialized | Initialize | Update;

export interface Leave {
  readonly kind: "leave";
  readonly node: Node;
  readonly message: string;
}

/** Why a Node keeps its taint: label of a metric. */
export type WaitReason =
  | "absent"
  | "noAddress"
  | "addresses"
  | "labels"
  | "providerID"
  | "provider"
  | "unowned"
  | "write";

export interface NotInitialized {
  readonly kind: "notInitialized";
  readonly node: Node;
  readonly reason: WaitReason;
  readonly message: string;
  readonly cause: ProviderError | undefined;
  /** True: reported immediately, because waiting does not help. False: reported when it has lasted for some time. */
  readonly reportNow: boolean;
  /** undefined: the back-off decides. */
  readonly retryAfterMs: number | undefined;
}

export interface Update {
  readonly kind: "update";
  readonly node: Node;
  /** For nodes: labels and the annotation that lists ours; valid only for `node.metadata.resourceVersion`. */
  readonly labelsPatch: JsonObject | undefined;
  /** For nodes/status: addresses only. */
  readonly statusPatch: JsonObject | undefined;
  readonly differences: readonly Difference[];
  readonly droppedLabels: readonly DroppedLabel[];
  /** The Node has no IP address: its instance is looked up again before the next refresh. */
  readonly hasNoAddress: boolean;
}

export interface Initialize {
  readonly kind: "initialize";
  readonly node: Node;
  readonly instance: Instance;
  /** For nodes/status, written first: pods that tolerate the taint need the addresses. undefined: they are up to date. */
  readonly statusPatch: JsonObject | undefined;
  /** For nodes: providerID, labels, taints; valid only for `node.metadata.resourceVersion`. */
  readonly nodePatch: JsonObject;
  /** As in {@link Update}. */
  readonly hasNoAddress: boolean;
}

export interface PlanSettings {
  readonly labels: LabelPolicies;
  /** --node-address-timeout. */
  readonly addressTimeoutMs: number;
}

/**
 * How long the cloud may report an instance as absent before an event is recorded. Before that it is the usual lag between a kubelet's
 * registration and the cloud's API. A provider whose cloud lags longer reports NOT_YET_CONSISTENT.
 */
const REPORT_ABSENT_AFTER_MS = 15_000;

/** The wait for an address grows between these, so that a Node is initialized soon after its instance has one. */
const MIN_ADDRESS_RETRY_MS = 1000;
const MAX_ADDRESS_RETRY_MS = 10_000;

export function plan(input: Input, nowMs: number, settings: PlanSettings): Plan {
  return input.kind === "initialized" ? planUpdate(input, settings.labels) : planWaiting(input, nowMs, settings);
}

function planWaiting(
  { node, result, byName, noAddressForMs }: Extract<Input, { kind: "waiting" }>,
  nowMs: number,
  { addressTimeoutMs }: PlanSettings,
): Plan {
  switch (result.kind) {
    case "present":
      return needsAddress(node, result.instance.addresses) && noAddressForMs < addressTimeoutMs
        ? waitForAddress(node, noAddressForMs)
        : planInitialize(node, result.instance);
    case "absent":
    case "noMatch": {
      const ageMs = nowMs - node.metadata.creationTimestampMs;
      const message = absentMessage(node, byName);
      return notInitialized(node, "absent", message, { reportNow: ageMs >= REPORT_ABSENT_AFTER_MS });
    }
    case "unknown": {
      const { error } = result;
      // Only a change of this Node or of its instance helps. Other errors may be temporary, and would be reported for every Node.
      const isAboutIdentity = error.code === "INVALID_ARGUMENT" || error.reason === "AMBIGUOUS_NAME";
      const reportNow = error.class === "FINAL" || isAboutIdentity;
      const reason = isAboutIdentity ? "providerID" : "provider";
      return notInitialized(node, reason, error.message, { cause: error, reportNow });
    }
    case "notOwned":
      return { kind: "leave", node, message: result.message };
  }
  return result satisfies never;
}

function waitForAddress(node: Node, forMs: number): NotInitialized {
  const retryAfterMs = Math.min(Math.max(forMs, MIN_ADDRESS_RETRY_MS), MAX_ADDRESS_RETRY_MS);
  return notInitialized(node, "noAddress", NO_ADDRESS, { reportNow: false, retryAfterMs });
}

const NO_ADDRESS = "the cloud reports no IP address for the instance";

export function planInitialize(node: Node, instance: Instance): Initialize | NotInitialized {
  const providerID = node.spec.providerID === "" ? instance.providerId : node.spec.providerID;
  if (providerID === "") return notInitialized(node, "providerID", "the cloud reports no provider ID for the instance");
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
    hasNoAddress: hasNoAddress(node, instance.addresses),
  };
}

/** Applies the policy of each field. Fields that the cloud does not report, and a missing instance, change nothing. */
function planUpdate(
  { node, observed, duplicates }: Extract<Input, { kind: "initialized" }>,
  policies: LabelPolicies,
): Update {
  const { metadata } = node;
  const { uid, resourceVersion } = metadata;
  const { instance, byName } = observed ?? {};
  const labels: LabelPlan =
    instance === undefined
      ? { changes: mirrorBetaLabels(metadata.labels), record: undefined, dropped: [], differences: [] }
      : planLabels(metadata, instance, policies);
  const addresses = instance && planNextAddresses(node, instance.addresses);
  const identity = providerIdDifference(node, {
    providerId: instance?.providerId,
    providerIdByName: byName?.kind === "queried" ? byName.providerId : undefined,
    duplicates,
  });
  const isUnreachable = instance !== undefined && hasNoAddress(node, instance.addresses);
  const changes = metadataPatch(labels);
  return {
    kind: "update",
    node,
    labelsPatch: Object.keys(changes).length === 0 ? undefined : { metadata: { uid, resourceVersion, ...changes } },
    statusPatch: addresses?.kind === "write" ? addressesPatch(node, addresses.addresses) : undefined,
    differences: [
      ...(identity === undefined ? [] : [identity]),
      ...addressDifferences(addresses, isUnreachable),
      ...labels.differences,
    ],
    droppedLabels: labels.dropped,
    hasNoAddress: isUnreachable,
  };
}

function addressDifferences(addresses: AddressPlan | undefined, isUnreachable: boolean): readonly Difference[] {
  const problem = addresses?.kind === "mismatch" ? addresses.message : addresses?.lost;
  const messages = [isUnreachable ? NO_ADDRESS : undefined, problem].filter((message) => message !== undefined);
  return messages.map((message) => ({ field: "addresses", message }));
}

function metadataPatch({ changes, record }: LabelPlan): JsonObject {
  return {
    ...(Object.keys(changes).length === 0 ? {} : { labels: changes }),
    ...(record === undefined ? {} : { annotations: { [CLOUD_LABELS]: record } }),
  };
}

/**
 * Strategic merge patch. `spec.taints` has no merge key in the API server, so the patch contains the whole list. With resourceVersion the
 * server rejects it if another client has changed the taints.
 */
function initializedPatch(node: Node, providerID: string, labels: LabelPlan): JsonObject {
  const { uid, resourceVersion } = node.metadata;
  const taints = node.spec.taints.filter(({ key }) => key !== UNINITIALIZED).map((taint) => taintJson(taint));
  return {
    metadata: { uid, resourceVersion, ...metadataPatch(labels) },
    spec: {
      ...(node.spec.providerID === "" ? { providerID } : {}),
      taints: taints.length === 0 ? null : taints,
    },
  };
}

function absentMessage({ metadata, spec }: Node, byName: InstanceByName): string {
  if (spec.providerID === "") return `the cloud has no instance with the name ${metadata.name}`;
  const message = `the cloud has no instance with the provider ID ${spec.providerID}`;
  if (byName.kind === "notQueried" || byName.providerId === undefined) return message;
  if (isSameInstance(byName.providerId, spec.providerID)) return message;
  return `${message}; the instance with the name ${metadata.name} has ${byName.providerId}`;
}

interface WaitParts {
  readonly cause?: ProviderError;
  readonly reportNow: boolean;
  readonly retryAfterMs?: number;
}

function notInitialized(
  node: Node,
  reason: WaitReason,
  message: string,
  { cause, reportNow, retryAfterMs }: WaitParts = { reportNow: true },
): NotInitialized {
  return { kind: "notInitialized", node, reason, message, cause, reportNow, retryAfterMs };
}

export interface Identity {
  /** Provider ID in the cloud of the instance found by the Node's provider ID; undefined: not found. */
  readonly providerId: string | undefined;
  /** Provider ID of the instance that has the Node's name; undefined: it does not exist, or was not queried. */
  readonly providerIdByName: string | undefined;
  /** Names of other Nodes with the same provider ID. */
  readonly duplicates: readonly string[];
}

/**
 * Why spec.providerID is probably not the instance on which this kubelet runs; undefined: no evidence. A different name alone proves
 * nothing: another instance must have the Node's name, or another Node its ID.
 */
export function providerIdDifference(node: Node, identity: Identity): Difference | undefined {
  const message = mismatchMessage(node, identity);
  return message === undefined ? undefined : { field: "providerID", message };
}

const ADVICE =
  "the provider ID of a Node cannot be changed: make sure that its kubelet runs with the right --provider-id, delete the Node and let it register again";

function mismatchMessage(
  { metadata, spec }: Node,
  { providerId, providerIdByName, duplicates }: Identity,
): string | undefined {
  const { providerID } = spec;
  if (providerID === "") return undefined;
  const [duplicate] = duplicates;
  if (duplicate !== undefined) {
    return `node ${duplicate} has the same provider ID ${providerID}, but an instance can be only one of them; ${ADVICE}`;
  }
  if (providerIdByName !== undefined && !isSameInstance(providerIdByName, providerID)) {
    const found = providerId === undefined ? "which the cloud does not have" : "which has another name in the cloud";
    return `the Node has provider ID ${providerID}, ${found}; the instance with the name ${metadata.name} has ${providerIdByName}; ${ADVICE}`;
  }
  if (providerId !== undefined && !isSameInstance(providerId, providerID)) {
    return `the Node has provider ID ${providerID}, but the cloud reports ${providerId} for this instance; ${ADVICE}`;
  }
  return undefined;
}
