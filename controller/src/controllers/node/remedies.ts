import type { WaitReason } from "./plan.ts";

/** What somebody can do about a Node that keeps its taint, as a clause of an instruction. */
export const WAIT_REMEDIES: Readonly<Record<WaitReason, string>> = {
  absent:
    "see that the machine is where the provider looks, and that its kubelet has its --provider-id or name; after a change delete the Node and let it register again",
  addresses: "start its kubelet with one of the machine's addresses as --node-ip, or without",
  labels: "change it at the cloud",
  providerID: "give its kubelet the machine's --provider-id, delete the Node and let it register again",
  provider: "see that the provider runs, reaches its cloud and has valid credentials",
  unowned: "run a provider that owns it, or say with --provider-node-selector whose it is",
  write: "see that the API server is well and grants the controller its rights",
};
