import { OBJECTS, PAGES, type ReasonRow } from "./row.ts";

/** What stands in the way of a load balancer. */
export const SERVICE_REASONS = {
  NoLoadBalancerWanted: {
    of: ["service"],
    state: "unmanaged",
    message: "The Service wants no load balancer.",
    documentation: PAGES.loadBalancers,
  },
  ClassNotServed: {
    of: ["service"],
    state: "unmanaged",
    message: "No provider serves its load-balancer class.",
    remedy:
      "Create the Service anew with a class that is served, or run a provider that serves this one. If another controller does, nothing is to be done.",
    documentation: PAGES.several,
  },
  LoadBalancersNotServed: {
    of: ["service"],
    state: "blocked",
    message: "No provider serves its load balancer.",
    remedy: "Run a provider that serves load balancers, and name it with --default-load-balancer-provider.",
    documentation: PAGES.loadBalancers,
  },
  ClassContested: {
    of: ["service"],
    state: "blocked",
    message: "Several providers could serve it, so none of them gets it.",
    remedy: "Have only one provider serve the class, and see that no two have the same provider-ID prefix.",
    documentation: PAGES.several,
  },
  NotResponsible: {
    of: ["service"],
    state: "unmanaged",
    message: "The provider says that, by its annotations, the Service is somebody else's to serve.",
    remedy: "If it is not, change the annotation that the message names.",
    documentation: PAGES.loadBalancers,
  },
  FeatureUnsupported: {
    of: ["service", "route"],
    state: "blocked",
    message: "It asks for something that its provider does not offer.",
    remedy: "Change the field that the message names, or have a provider serve it that offers this.",
    documentation: PAGES.limits,
  },
  Refused: {
    of: OBJECTS,
    state: "blocked",
    message: "The provider does not accept what is asked for.",
    remedy: "Change the field or annotation that the message names.",
    documentation: PAGES.errors,
  },
  ForeignOwner: {
    of: ["service", "route"],
    state: "blocked",
    message: "What is at the cloud belongs to another cluster, and is left to it.",
    remedy:
      "Find that cluster by the name in the message. Only if it is no more, delete the object at the cloud, or have a Service take its load balancer over by annotation service.cloudwire.dev/adopt-load-balancer.",
    documentation: PAGES.errors,
  },
  Conflict: {
    of: ["service", "route"],
    state: "blocked",
    message: "An address, a name or a range is in use by something else, and is left to it.",
    remedy: "Free what the message names at the cloud, or ask for another.",
    documentation: PAGES.errors,
  },
  NoNodes: {
    of: ["service"],
    state: "blocked",
    message: "The load balancer stands, but there are no nodes that it could forward to.",
    remedy:
      "See that there are initialized Nodes of its provider, and which of them carry the label node.kubernetes.io/exclude-from-external-load-balancers.",
    documentation: PAGES.loadBalancers,
  },
  LoadBalancerFailed: {
    of: ["service"],
    state: "blocked",
    message: "The provider says that the load balancer is broken.",
    remedy: "See the message, and the load balancer at the cloud.",
    documentation: PAGES.loadBalancers,
  },
  DriftNotRepaired: {
    of: ["service"],
    state: "blocked",
    message: "Somebody changes the load balancer back each time it was made as the Service wishes.",
    remedy: "Find at the cloud who changes it: its audit trail knows.",
    documentation: PAGES.loadBalancers,
  },
  CloudBusy: {
    of: ["service", "route"],
    state: "waiting",
    message: "Another change of the same object is under way at the cloud.",
    remedy: "If it lasts, look at the object at the cloud.",
    documentation: PAGES.errors,
  },
  DependencyInUse: {
    of: ["service", "route"],
    state: "blocked",
    message: "Something at the cloud still uses what is to be changed or deleted.",
    remedy: "Find at the cloud what uses it, and take that away; it is tried again by itself.",
    documentation: PAGES.loadBalancers,
  },
  DeletionProtected: {
    of: ["service"],
    state: "blocked",
    message: "The load balancer is protected against deletion, and the Service stays with it.",
    remedy:
      'If both are to go, set annotation service.cloudwire.dev/deletion-protection to "false" on the Service; that lifts a protection at the cloud, too.',
    documentation: PAGES.loadBalancers,
  },
  DeletionStuck: {
    of: ["service"],
    state: "waiting",
    message: "The load balancer has been going for long.",
    remedy: "Look at the load balancer at the cloud. Taking the finalizer off by hand leaves it there, and costs.",
    documentation: PAGES.loadBalancers,
  },
  OtherFinalizers: {
    of: ["node", "service"],
    state: "blocked",
    message: "It is being deleted and waits for finalizers of other programs.",
    remedy: "See to the programs that have put them on.",
    documentation: PAGES.loadBalancers,
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
