import type { Service } from "../../../api/service.ts";
import type { UnsupportedRequest } from "../../../provider/convert/unsupported.ts";
import type { Entry, Pending } from "../ledger.ts";
import type { StatusPatch } from "./patches.ts";
import type { Refusal } from "./refusal.ts";
import type { Wish } from "./wish.ts";

/** What is to be done about one Service. */
export type Plan = Delete | Refuse | Change | Settle | Wait | Fail;

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
  readonly purpose: Pending["kind"];
  readonly call: "ensure" | "updateNodes";
  /** For audit logs. */
  readonly trigger: string;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** For services/status, before the call. */
  readonly finalizerPatch: StatusPatch | undefined;
  readonly ignored: readonly UnsupportedRequest[];
  /** What stands, whatever comes of the change. */
  readonly standing: Entry | undefined;
}

/** The cloud has what is wished: write down what is known of it. */
export interface Settle {
  readonly kind: "settle";
  readonly service: Service;
  readonly entry: Entry;
  /** The change that has just been finished. */
  readonly finished: Pending["kind"] | undefined;
  readonly nodeCount: number;
  readonly finalizerPatch: StatusPatch | undefined;
}

export interface Wait {
  readonly kind: "wait";
  readonly service: Service;
  readonly entry: Entry;
}

/** The provider says that it will not become what is wished. */
export interface Fail {
  readonly kind: "fail";
  readonly message: string;
}
