import {
  type EventInput,
  type EventType,
  INITIALIZE_NODE_DELAYED,
  INITIALIZE_NODE_FAILED,
  NODE_DIFFERS_FROM_CLOUD,
  PROVIDER_ID_MISMATCH,
  SYNCED,
} from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { ProviderErrorClass } from "../../provider/model/errors.ts";
import { hinted } from "../../util/text.ts";
import type { WaitReason } from "./plan.ts";
import type { Difference } from "./plan/labels.ts";

/** Of an event's 1024 bytes. */
const MAX_WHY = 980;

export function synced(node: Node): EventInput {
  return event(node, "Normal", SYNCED, "Node synced successfully");
}

export function initializeNodeFailed(
  node: Node,
  why: string,
  reason: WaitReason,
  errorClass?: ProviderErrorClass,
): EventInput {
  return event(node, "Warning", INITIALIZE_NODE_FAILED, `Node is not initialized: ${waiting(why, reason, errorClass)}`);
}

export function initializeNodeDelayed(
  node: Node,
  why: string,
  reason: WaitReason,
  errorClass?: ProviderErrorClass,
): EventInput {
  return event(
    node,
    "Warning",
    INITIALIZE_NODE_DELAYED,
    `Node is not initialized yet: ${waiting(why, reason, errorClass)}`,
  );
}

export function differs(node: Node, { field, message }: Difference): EventInput {
  return event(node, "Warning", field === "providerID" ? PROVIDER_ID_MISMATCH : NODE_DIFFERS_FROM_CLOUD, message);
}

function waiting(why: string, reason: WaitReason, errorClass: ProviderErrorClass | undefined): string {
  return hinted(why, nextTry(reason, errorClass), WAIT_REMEDIES[reason], MAX_WHY);
}

/** Describes the waits of provider/model/errors.ts, of the queue and of the refresh. */
function nextTry(reason: WaitReason, errorClass: ProviderErrorClass | undefined): string {
  if (reason === "noAddress") return "retrying within 10 seconds";
  if (reason === "unowned") return "retrying when the Node or a provider changes";
  // As long as it says.
  if (errorClass === "WAIT") return "retrying when the provider allows it";
  return errorClass === "FINAL"
    ? "retrying when the Node or the provider changes, or in 30 minutes"
    : "retrying within 5 minutes";
}

function event(node: Node, type: EventType, reason: string, message: string): EventInput {
  return { regarding: nodeReference(node), type, reason, message };
}

/** A clause of an instruction for each reason. */
export const WAIT_REMEDIES: Readonly<Record<WaitReason, string>> = {
  absent:
    "check that the instance exists where the provider looks, and that the kubelet has the instance's --provider-id or name; after a change, delete the Node and let it register again",
  noAddress:
    "check that the instance gets an IP address and that the cloud reports it; some clouds need a guest agent in the instance; --node-address-timeout limits the wait",
  addresses: "start the kubelet with one of the instance's addresses as --node-ip, or without --node-ip",
  labels: "change the value in the cloud",
  providerID: "start the kubelet with the instance's --provider-id, delete the Node and let it register again",
  provider: "check that the provider runs, reaches its cloud and has valid credentials",
  unowned: "run a provider that owns the Node, or assign the Node to a provider with --provider-node-selector",
  write: "check that the API server is healthy and grants the controller its permissions",
};
