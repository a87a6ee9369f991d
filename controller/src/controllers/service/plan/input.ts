import type { Service } from "../../../api/service.ts";
import type { UnsupportedRequest } from "./unsupported.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { DeleteOperation, Drift, Present, PreviousLoadBalancer } from "../record/record.ts";
import type { DriftVerdict } from "./drift.ts";
import type { Refusal } from "./refusal.ts";
import type { Wish } from "./wish.ts";

/** What a decision about one Service rests on. */
export type Input = CleanupInput | WantedInput | UnservedInput | AbsentInput;

/** What a previous provider holds, and how it can be deleted. */
export interface Leftover extends PreviousLoadBalancer {
  /** To be ensured there first, should that cloud answer that it is protected; where that is the user's word. */
  readonly unprotected?: Wish | undefined;
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
  readonly previous: Leftover | undefined;
  /** The Service as it is wished while it must not go; undefined: it need not be kept up. */
  readonly upkeep: WantedInput | undefined;
  /** The last wish without protection at the cloud, where that protection is ours to lift. */
  readonly unprotected: Wish | undefined;
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
export interface WantedInput {
  readonly kind: "wanted";
  readonly service: Service;
  readonly provider: string;
  readonly wish: Wish;
  readonly present: Present | undefined;
  /**
   * A request got no answer. Without `present` requesting it again says more than reading; with it, nothing is believed that was acknowledged
   * earlier.
   */
  readonly isUnanswered: boolean;
  /** What the cloud has, where that was read: see {@link isReadNeeded}. */
  readonly observed: LoadBalancerAnswer | undefined;
  /** A sweep found something: what is to be done if a read agrees. undefined: no reason to look. */
  readonly suspicion: Readonly<Record<Drift["kind"], DriftVerdict>> | undefined;
  readonly previous: Leftover | undefined;
  readonly unsupported: readonly UnsupportedRequest[];
  /** Why the wish must not or need not be asked for. */
  readonly refusal: Refusal | undefined;
  /** The provider takes changes of nodes alone. */
  readonly updatesNodes: boolean;
}
