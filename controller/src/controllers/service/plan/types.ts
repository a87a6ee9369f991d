import type { Service } from "../../../api/service.ts";
import type { UnsupportedRequest } from "./unsupported.ts";
import type { Drift, Operation, Present } from "../record/record.ts";
import type { Look } from "../record/transition.ts";
import type { Leftover } from "./input.ts";
import type { StatusPatch } from "./patches.ts";
import type { Refusal } from "./refusal.ts";
import type { Wish } from "./wish.ts";

/** What is to be done about one Service. */
export type Plan = Delete | Keep | Leave | Retire | Refuse | Change | Settle | Wait | Fail | Forget;

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
  readonly unprotected: Wish | undefined;
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
export interface Retire {
  readonly kind: "retire";
  readonly service: Service;
  readonly previous: Leftover;
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
  readonly wish: Wish;
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
  readonly look: Look | undefined;
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
