import type { Service } from "../../../api/service.ts";
import type { EnsureLoadBalancerInput, NodeSelection } from "../../../provider/model/client.ts";
import type { LoadBalancerResult } from "../../../provider/model/load-balancer.ts";
import type { DeleteOperation, Drift, Operation, Present, PreviousLoadBalancer } from "../record/record.ts";
import type { Inspection } from "../record/transition.ts";
import type { DriftDecision } from "./drift.ts";
import type { StatusPatch } from "./status.ts";
import type { Refusal, UnsupportedRequest } from "./unsupported.ts";

/** What is to be done about one Service. */
export type Plan = Delete | Keep | Leave | DeletePrevious | Refuse | Change | Settle | Wait | Fail | Forget;

export interface Delete {
  readonly kind: "delete";
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** False while a deletion that was announced goes on. */
  readonly announce: boolean;
  /** For services/status, once nothing is left at the cloud. */
  readonly patch: StatusPatch | undefined;
  /** To be ensured first, should the cloud answer that the load balancer is protected. */
  readonly unprotected: DesiredLoadBalancer | undefined;
}

/** Protected: neither the load balancer nor the Service may go. */
export interface Keep {
  readonly kind: "keep";
  readonly service: Service;
  readonly isGone: boolean;
  readonly loadBalancerId: string | undefined;
  readonly finalizerPatch: StatusPatch | undefined;
  /** For the load balancer: nodes come and go all the same. */
  readonly meanwhile: Plan | undefined;
}

/** Nobody serves it any more: it is told so, and nothing else is touched. */
export interface Leave {
  readonly kind: "leave";
  readonly service: Service;
  readonly why: string;
}

/** Another provider serves the Service now, and its load balancer stands; or the Service is to go. What the previous one holds must go. */
export interface DeletePrevious {
  readonly kind: "deletePrevious";
  readonly service: Service;
  readonly previous: PreviousToDelete;
}

/** Asked for what the provider does not offer and what must not be left out, or for what it has refused. */
export interface Refuse {
  readonly kind: "refuse";
  readonly refusal: Refusal;
  /** For the load balancer that stands: ordinary changes of nodes must not leave it without live targets. */
  readonly meanwhile: Plan | undefined;
}

export interface Change {
  readonly kind: "change";
  readonly service: Service;
  readonly provider: string;
  readonly desired: DesiredLoadBalancer;
  /** What the user is told about it: the load balancer, or only its nodes. */
  readonly purpose: Operation["purpose"];
  readonly call: "ensure" | "updateNodes";
  /** For audit logs. */
  readonly trigger: string;
  /** What somebody else did that is to be undone. */
  readonly drift: Drift | undefined;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** Fingerprint of the nodes in force, as far as known: equal ones need not be sent. */
  readonly acknowledgedNodes: string | undefined;
  /** For services/status, before the call. */
  readonly finalizerPatch: StatusPatch | undefined;
  readonly ignored: readonly UnsupportedRequest[];
  /** What stands, whatever comes of the change. */
  readonly inForce: Present | undefined;
}

/** The cloud has what is wished: write down what is known of it. */
export interface Settle {
  readonly kind: "settle";
  readonly service: Service;
  readonly present: Present;
  /** The change that has just been finished. */
  readonly finished: Operation["purpose"] | undefined;
  readonly nodeCount: number;
  readonly finalizerPatch: StatusPatch | undefined;
  /** A sweep's suspicion that was looked into; undefined: there was none. */
  readonly inspection: Inspection | undefined;
}

export interface Wait {
  readonly kind: "wait";
  readonly service: Service;
  readonly present: Present;
}

/** The provider says that it will not become what is wished. */
export interface Fail {
  readonly kind: "fail";
  readonly message: string;
}

/** Nothing is left that needs to be remembered. */
export interface Forget {
  readonly kind: "forget";
  readonly key: string;
}

/** What a decision about one Service rests on. */
export type Input = CleanupInput | EnsureInput | UnservedInput | AbsentInput;

/** What a previous provider holds, and how it can be deleted. */
export interface PreviousToDelete extends PreviousLoadBalancer {
  /** To be ensured there first, should that cloud answer that it is protected; where that is the user's word. */
  readonly unprotected?: DesiredLoadBalancer | undefined;
}

/** The Service has no use for a load balancer, any more or at all. */
export interface CleanupInput {
  readonly kind: "cleanup";
  /** The last one known, if the object itself is gone. */
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  /** As last acknowledged. */
  readonly loadBalancerId: string | undefined;
  /** The deletion that goes on. */
  readonly deletion: DeleteOperation | undefined;
  /** One more load balancer, at a provider that served the Service before. */
  readonly previous: PreviousToDelete | undefined;
  /** The Service as it is wished while it must not go; undefined: it need not be kept up. */
  readonly upkeep: EnsureInput | undefined;
  /** The last wish without protection at the cloud, where that protection is ours to lift. */
  readonly unprotected: DesiredLoadBalancer | undefined;
}

/** Its provider serves load balancers no more, and nobody else does: nothing can be done about what it has. */
export interface UnservedInput {
  readonly kind: "unserved";
  readonly service: Service;
  readonly why: string;
}

/** The Service is gone, and nothing of it is left. */
export interface AbsentInput {
  readonly kind: "absent";
  readonly key: string;
}

/** The Service wishes for a load balancer of a provider here. */
export interface EnsureInput {
  readonly kind: "ensure";
  readonly service: Service;
  readonly provider: string;
  readonly desired: DesiredLoadBalancer;
  readonly present: Present | undefined;
  /**
   * A request got no answer. Without `present` requesting it again says more than reading; with it, nothing is believed that was acknowledged
   * earlier.
   */
  readonly isUnanswered: boolean;
  /** What the cloud has, where that was read: see {@link isReadNeeded}. */
  readonly observed: LoadBalancerResult | undefined;
  /** A sweep found something: what is to be done if a read agrees. undefined: no reason to look. */
  readonly suspicion: Readonly<Record<Drift["kind"], DriftDecision>> | undefined;
  readonly previous: PreviousToDelete | undefined;
  readonly unsupported: readonly UnsupportedRequest[];
  /** Why the wish must not or need not be asked for. */
  readonly refusal: Refusal | undefined;
  /** The provider takes changes of nodes alone. */
  readonly updatesNodes: boolean;
}

/** What a provider is asked to make of a Service. */
export interface DesiredLoadBalancer {
  /** undefined: an earlier process asked for it, and only its fingerprint is known. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  readonly nodes: NodeSelection;
  /** Instead of a new one: the one that exists and shall become the Service's. */
  readonly adoptLoadBalancerId?: string;
}
