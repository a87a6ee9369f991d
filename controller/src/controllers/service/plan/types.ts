import type { Service } from "../../../api/service.ts";
import type { EnsureLoadBalancerInput, NodeSelection } from "../../../provider/model/client.ts";
import type { LoadBalancerCheck, LoadBalancerResult } from "../../../provider/model/load-balancer.ts";
import type { DeleteOperation, Drift, Operation, Present, PreviousLoadBalancer } from "../record/record.ts";
import type { Inspection } from "../record/transition.ts";
import type { DriftDecision } from "./drift.ts";
import type { StatusPatch } from "./status.ts";
import type { Refusal, UnsupportedRequest } from "./unsupported.ts";

export type Plan = Delete | Keep | Leave | DeletePrevious | Refuse | Change | Settle | Wait | Fail | Forget;

export interface Delete {
  readonly kind: "delete";
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** Of the deletion in progress, as last reported. */
  readonly detail: string | undefined;
  /** False while a deletion is in progress. */
  readonly announce: boolean;
  /** For services/status, after the deletion. */
  readonly patch: StatusPatch | undefined;
  /** Ensured first if the cloud reports that the load balancer is protected. */
  readonly unprotected: DesiredLoadBalancer | undefined;
}

/** Deletion protection: neither the load balancer nor the Service is deleted. */
export interface Keep {
  readonly kind: "keep";
  readonly service: Service;
  readonly isGone: boolean;
  readonly loadBalancerId: string | undefined;
  readonly finalizerPatch: StatusPatch | undefined;
  /** Keeps the nodes of the load balancer current. */
  readonly meanwhile: Plan | undefined;
}

/** No provider serves it: the condition says so, and nothing else is changed. */
export interface Leave {
  readonly kind: "leave";
  readonly service: Service;
  readonly why: string;
}

/** The load balancer of a previous provider is deleted: the new one is ready, or the Service is being deleted. */
export interface DeletePrevious {
  readonly kind: "deletePrevious";
  readonly service: Service;
  readonly previous: PreviousToDelete;
}

/** The Service requests a mandatory feature that the provider does not support, or a spec that it has rejected. */
export interface Refuse {
  readonly kind: "refuse";
  readonly refusal: Refusal;
  /** For the load balancer in force: it must not lose all of its targets. */
  readonly meanwhile: Plan | undefined;
}

export interface Change {
  readonly kind: "change";
  readonly service: Service;
  readonly provider: string;
  readonly desired: DesiredLoadBalancer;
  /** Reported to the user: the load balancer was changed, or only its nodes. */
  readonly purpose: Operation["purpose"];
  readonly call: "ensure" | "updateNodes";
  /** For audit logs. */
  readonly trigger: string;
  /** The external change that is reverted. */
  readonly drift: Drift | undefined;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** Fingerprint of the nodes in force, if known: equal nodes need not be sent. */
  readonly acknowledgedNodes: string | undefined;
  /** A request got no response: this one may be the same. */
  readonly isRepeated: boolean;
  /** This process has just found the load balancer in the cloud: it is checked soon. */
  readonly isFound: boolean;
  /** For services/status, before the call. */
  readonly finalizerPatch: StatusPatch | undefined;
  readonly ignored: readonly UnsupportedRequest[];
  /** The load balancer in force, whatever the outcome of the change. */
  readonly inForce: Present | undefined;
}

/** The load balancer matches the desired state. */
export interface Settle {
  readonly kind: "settle";
  readonly service: Service;
  readonly present: Present;
  /** The change that has just been completed. */
  readonly finished: Operation["purpose"] | undefined;
  readonly nodeCount: number;
  /** This process has just found the load balancer in the cloud: it is checked soon. */
  readonly isFound: boolean;
  readonly finalizerPatch: StatusPatch | undefined;
  /** Result of a read that a sweep requested. */
  readonly inspection: Inspection | undefined;
}

export interface Wait {
  readonly kind: "wait";
  readonly service: Service;
  readonly present: Present;
}

/** The provider reports that the load balancer has failed. */
export interface Fail {
  readonly kind: "fail";
  readonly message: string;
}

/** Nothing is left to be remembered. */
export interface Forget {
  readonly kind: "forget";
  readonly key: string;
}

export type Input = CleanupInput | EnsureInput | UnservedInput | AbsentInput;

export interface PreviousToDelete extends PreviousLoadBalancer {
  /** Ensured first if the cloud reports that the load balancer is protected, where the user has removed the protection. */
  readonly unprotected?: DesiredLoadBalancer | undefined;
}

/** The Service needs no load balancer, or no longer. */
export interface CleanupInput {
  readonly kind: "cleanup";
  /** The last known state if the Service is gone. */
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  readonly loadBalancerId: string | undefined;
  /** The deletion in progress. */
  readonly deletion: DeleteOperation | undefined;
  readonly previous: PreviousToDelete | undefined;
  /** To serve a Service that is protected from deletion. */
  readonly upkeep: EnsureInput | undefined;
  /** The last desired state without protection in the cloud, if this controller may remove the protection. */
  readonly unprotected: DesiredLoadBalancer | undefined;
}

/** No provider serves the load balancer: it cannot be changed or deleted. */
export interface UnservedInput {
  readonly kind: "unserved";
  readonly service: Service;
  readonly why: string;
}

/** Neither the Service nor its load balancer exists. */
export interface AbsentInput {
  readonly kind: "absent";
  readonly key: string;
}

/** The Service needs a load balancer of a provider here. */
export interface EnsureInput {
  readonly kind: "ensure";
  readonly service: Service;
  readonly provider: string;
  readonly desired: DesiredLoadBalancer;
  readonly present: Present | undefined;
  /** A request got no response: without `present` it is repeated; with `present`, the cloud is read. */
  readonly isUnanswered: boolean;
  /** undefined: no read was needed. */
  readonly observed: LoadBalancerResult | undefined;
  /** The provider has compared the cloud objects with the desired state. undefined: not asked. */
  readonly check: LoadBalancerCheck | undefined;
  /** The decision on the drift that a sweep suspects, if a read confirms it. undefined: no suspicion. */
  readonly suspicion: Readonly<Record<Drift["kind"], DriftDecision>> | undefined;
  readonly previous: PreviousToDelete | undefined;
  readonly unsupported: readonly UnsupportedRequest[];
  /** Why the desired state is not requested. */
  readonly refusal: Refusal | undefined;
  /** Monotonic. */
  readonly nowMs: number;
  /** The provider supports updates of the nodes alone. */
  readonly updatesNodes: boolean;
}

export interface DesiredLoadBalancer {
  /** undefined: requested by an earlier process; only the fingerprint is known. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  readonly nodes: NodeSelection;
  /** The existing load balancer to adopt instead of creating one. */
  readonly adoptLoadBalancerId?: string;
}
