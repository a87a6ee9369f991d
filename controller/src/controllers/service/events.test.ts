import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import {
  deletedLoadBalancer,
  deleteLoadBalancerFailed,
  deletingLoadBalancer,
  diagnosed,
  ensuredLoadBalancer,
  ensuringLoadBalancer,
  featureIgnored,
  syncLoadBalancerFailed,
  unavailableLoadBalancer,
  updatedLoadBalancer,
  updateLoadBalancerFailed,
} from "./events.ts";

const web = service("web");
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${String(index).padStart(2, "0")}`);
const diagnostic = { reason: "QuotaLow", summary: "Two left.", detail: "", field: "", helpUrl: "" };

test.each([
  {
    event: ensuringLoadBalancer(web),
    type: "Normal",
    reason: "EnsuringLoadBalancer",
    message: "Ensuring load balancer",
  },
  { event: ensuredLoadBalancer(web), type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" },
  {
    event: updatedLoadBalancer(web),
    type: "Normal",
    reason: "UpdatedLoadBalancer",
    message: "Updated load balancer with new hosts",
  },
  {
    event: unavailableLoadBalancer(web),
    type: "Warning",
    reason: "UnAvailableLoadBalancer",
    message: "There are no available nodes for LoadBalancer",
  },
  {
    event: deletingLoadBalancer(web),
    type: "Normal",
    reason: "DeletingLoadBalancer",
    message: "Deleting load balancer",
  },
  { event: deletedLoadBalancer(web), type: "Normal", reason: "DeletedLoadBalancer", message: "Deleted load balancer" },
  {
    event: syncLoadBalancerFailed(web, "quota"),
    type: "Warning",
    reason: "SyncLoadBalancerFailed",
    message: "Error syncing load balancer: quota",
  },
  {
    event: deleteLoadBalancerFailed(web, "quota"),
    type: "Warning",
    reason: "DeleteLoadBalancerFailed",
    message: "Error deleting load balancer: quota",
  },
  {
    event: updateLoadBalancerFailed(web, ["b", "a"], "quota"),
    type: "Warning",
    reason: "UpdateLoadBalancerFailed",
    message:
      "Error updating load balancer with new hosts [a b] [node names limited, total number of nodes: 2], error: quota",
  },
  {
    event: updateLoadBalancerFailed(web, names(20), "quota"),
    type: "Warning",
    reason: "UpdateLoadBalancerFailed",
    message: `Error updating load balancer with new hosts [${names(20).join(" ")}] [node names limited, total number of nodes: 20], error: quota`,
  },
  {
    event: updateLoadBalancerFailed(web, names(23).toReversed(), "quota"),
    type: "Warning",
    reason: "UpdateLoadBalancerFailed",
    message: `Error updating load balancer with new hosts [${names(20).join(" ")} <3 more>] [node names limited, total number of nodes: 23], error: quota`,
  },
  {
    event: featureIgnored(web, "spec.loadBalancerIP", "the provider chooses"),
    type: "Warning",
    reason: "LoadBalancerFeatureIgnored",
    message: "spec.loadBalancerIP: the provider chooses",
  },
  {
    event: diagnosed(web, { ...diagnostic, severity: "info" }),
    type: "Normal",
    reason: "QuotaLow",
    message: "Two left.",
  },
  {
    event: diagnosed(web, { ...diagnostic, severity: "warning", detail: "Ask for more." }),
    type: "Warning",
    reason: "QuotaLow",
    message: "Two left. Ask for more.",
  },
  {
    event: diagnosed(web, { ...diagnostic, severity: "error" }),
    type: "Warning",
    reason: "QuotaLow",
    message: "Two left.",
  },
])("the event $reason is on the Service and says $message", ({ event, type, reason, message }) => {
  const regarding = {
    apiVersion: "v1",
    kind: "Service",
    namespace: "default",
    name: "web",
    uid: "uid-default-web",
    resourceVersion: "1",
  };
  expect(event).toEqual({ regarding, type, reason, message });
});
