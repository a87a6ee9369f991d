import { OBJECTS, PAGES, type ReasonRow, rowsOf } from "./row.ts";

const service = rowsOf(["service"], PAGES.loadBalancers);
const cloud = rowsOf(["service", "route"], PAGES.errors);

/** Causes of problems with load balancers. */
export const SERVICE_REASONS = {
  NotLoadBalancerType: service("unmanaged", "The Service is not of type LoadBalancer."),
  LoadBalancerClassNotServed: rowsOf(["service"], PAGES.several)(
    "unmanaged",
    "No provider serves the Service's load balancer class.",
    "Recreate the Service with a class that a provider serves, or run a provider that serves this class. If another controller serves it, no action is needed.",
  ),
  NoLoadBalancerProvider: service(
    "blocked",
    "No provider serves the Service's load balancer.",
    "Run a provider that supports load balancers, and name it with --default-load-balancer-provider.",
  ),
  LoadBalancerClassConflict: rowsOf(["service"], PAGES.several)(
    "blocked",
    "Several providers could serve the Service, so no provider serves it.",
    "Let only one provider serve the class, and check that no two providers share a provider ID prefix.",
  ),
  NotResponsible: service(
    "unmanaged",
    "The annotations of the Service assign it to another controller, according to the provider.",
    "If this is not intended, change the annotation that the message names.",
  ),
  FeatureUnsupported: rowsOf(["service", "route"], PAGES.limits)(
    "blocked",
    "The object requests a feature that its provider does not support.",
    "Change the field that the message names, or use a provider that supports it.",
  ),
  Rejected: rowsOf(OBJECTS, PAGES.errors)(
    "blocked",
    "The provider rejects the request as invalid.",
    "Change the field or annotation that the message names.",
  ),
  OwnedByAnotherCluster: cloud(
    "blocked",
    "The resource in the cloud belongs to another cluster and is left unchanged.",
    "Check whether the cluster that the message names still exists. If it does not, delete the resource in the cloud, or adopt the load balancer with annotation service.cloudwire.dev/adopt-load-balancer.",
  ),
  Conflict: cloud(
    "blocked",
    "An address, a name or a CIDR is in use by another resource, which is left unchanged.",
    "Release the resource that the message names in the cloud, or request a different one.",
  ),
  NoAvailableNodes: service(
    "blocked",
    "The load balancer exists, but has no target nodes.",
    "Check that the provider has initialized Nodes, and which of them have the label node.kubernetes.io/exclude-from-external-load-balancers.",
  ),
  LoadBalancerFailed: service(
    "blocked",
    "The provider reports that the load balancer has failed.",
    "Check the message, and the load balancer in the cloud.",
  ),
  NodesNotRegistered: service(
    "waiting",
    "The provider could not register some nodes as targets of the load balancer. The controller retries.",
    "Check the instances of the nodes that the message names.",
  ),
  DriftNotRepaired: service(
    "blocked",
    "Another client changes the load balancer back after each repair.",
    "Use the cloud's audit log to find the client that changes it.",
  ),
  CloudBusy: cloud(
    "waiting",
    "Another change of the same resource is in progress in the cloud.",
    "If this persists, check the resource in the cloud.",
  ),
  DependencyInUse: rowsOf(["service", "route"], PAGES.loadBalancers)(
    "blocked",
    "Another resource in the cloud uses the resource that must be changed or deleted.",
    "Find that resource in the cloud and remove it. The controller retries automatically.",
  ),
  DeletionProtected: service(
    "blocked",
    "The load balancer is protected against deletion, so the Service is kept.",
    'To delete both, set annotation service.cloudwire.dev/deletion-protection to "false" on the Service. This also disables deletion protection in the cloud.',
  ),
  DeletionStuck: service(
    "waiting",
    "The deletion of the load balancer is taking unusually long.",
    "Check the load balancer in the cloud. If you remove the finalizer, the load balancer remains in the cloud and continues to incur costs.",
  ),
  WaitingForFinalizers: rowsOf(["node", "service"], PAGES.loadBalancers)(
    "blocked",
    "The object is being deleted and waits for finalizers of other controllers.",
    "Check the controllers that added these finalizers.",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
