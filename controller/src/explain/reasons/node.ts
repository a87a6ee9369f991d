import { OBJECTS, PAGES, type ReasonRow, rowsOf } from "./row.ts";

const node = rowsOf(["node"], PAGES.nodes);
const owner = rowsOf(["node", "route"], PAGES.several);
const deletion = rowsOf(["node"], "docs/explanation/deletion-guard.md");

/** Causes of problems with Nodes. */
export const NODE_REASONS = {
  NodeUnowned: owner(
    "unmanaged",
    "No provider owns the Node.",
    "Run a provider with the prefix of the Node's provider ID, correct the kubelet's --provider-id, or select the Node with --provider-node-selector. If another program manages the Node, no action is needed.",
  ),
  NodeOwnerAmbiguous: owner(
    "blocked",
    "Several providers could own the Node, so no provider manages it.",
    "Set --provider-id on its kubelet, or assign the Node with --provider-node-selector.",
  ),
  OwnerUnknown: rowsOf(OBJECTS, PAGES.several)(
    "waiting",
    "The owner is unknown until another provider responds.",
    "Check that every provider in --provider runs, or remove the providers that should not run.",
  ),
  InstanceNotVisibleYet: node(
    "waiting",
    "The cloud does not report the instance yet. This is normal for a few seconds after the instance is created.",
  ),
  InstanceNotFound: node(
    "blocked",
    "The cloud has no such instance.",
    "Check that the kubelet's --hostname-override or --provider-id matches the instance, and that the provider uses the account and region of the instance.",
  ),
  InstanceWithoutAddress: node(
    "waiting",
    "The cloud reports no IP address for the instance.",
    "Check that the instance gets an IP address and that the cloud reports it. --node-address-timeout limits the wait.",
  ),
  ProvidedNodeIPMismatch: node(
    "blocked",
    "The kubelet's --node-ip is not an address of the instance.",
    "Set the kubelet's --node-ip to an address of the instance, or remove the flag.",
  ),
  InvalidNodeLabels: node(
    "blocked",
    "The labels from the cloud cannot be set on the Node.",
    "Change the labels that the message names, on the Node or on the instance.",
  ),
  InvalidProviderID: node(
    "blocked",
    "The instance cannot be found by the Node's provider ID or name.",
    "Set the kubelet's --provider-id to the ID of its instance, delete the Node, and restart the kubelet to register the Node again.",
  ),
  NodeDiffersFromCloud: node(
    "blocked",
    "A field of the Node differs from the cloud, and the controller must not change it.",
    "Check which value is correct: the message names the field.",
  ),
  DeletionUnconfirmed: deletion(
    "waiting",
    "The provider reports the instance as deleted, but no report is confirmed yet.",
  ),
  DeletionConfirming: deletion(
    "waiting",
    "The provider reports the instance as deleted. The Node is deleted after enough confirmations.",
  ),
  DeletionNodeTooNew: deletion(
    "waiting",
    "The provider reports the instance as deleted, but the Node is too new to rely on the report.",
  ),
  DeletionProviderUntrusted: deletion(
    "waiting",
    "The provider reports the instance as deleted, but the controller currently ignores its absence reports.",
    "Fix the provider: `cloudwire explain provider/NAME` shows the cause.",
  ),
  DeletionProviderErrors: deletion(
    "waiting",
    "The provider reports the instance as deleted, but it recently returned errors or contradictory reports.",
  ),
  TooManyNodeDeletions: {
    ...deletion(
      "blocked",
      "Too many Nodes would be deleted at the same time, so the controller deletes none of them.",
      "Check in the cloud whether the instances are deleted. If so, approve the deletion of their Nodes with `cloudwire approve node-deletion NAME`.",
    ),
    of: ["node", "provider"],
  },
  NodeNotIdentified: deletion(
    "blocked",
    "The Node has no provider ID, and no provider has an instance with its name. The Node is not deleted.",
    "If its instance no longer exists, delete the Node with `kubectl delete node NAME`. Otherwise, set the kubelet's --provider-id, delete the Node, and restart the kubelet to register the Node again.",
  ),
  NodeDeletionProtected: deletion(
    "blocked",
    "The instance is reported as deleted, and the Node is protected from deletion.",
    "To delete the Node, remove annotation cloudwire.dev/deletion-protection from it, or unset --node-deletion-protection.",
  ),
  InstanceStateUnknown: deletion(
    "waiting",
    "The Node is not Ready, and the cloud cannot determine the state of its instance. The Node is not deleted.",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
