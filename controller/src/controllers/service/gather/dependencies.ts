import type { Service } from "../../../api/service.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/own-writes.ts";
import type { LoadBalancerSettings } from "../../../provider/convert/service.ts";
import type { ProviderSet } from "../../../provider/model/provider.ts";
import type { Clock } from "../../../util/clock.ts";
import type { PacedConditions } from "../apply/conditions.ts";
import type { DriftWatch } from "../drift-watch.ts";
import type { Holders } from "./holders.ts";
import type { Inventory } from "./load-balancer-lister.ts";
import type { Ledger } from "../ledger.ts";
import type { Targets } from "./targets.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly services: Lister<Service>;
  readonly providers: ProviderSet;
  readonly targets: Targets;
  readonly inventory: Inventory;
  readonly ledger: Ledger;
  readonly ownWrites: OwnWrites<Service>;
  readonly conditions: Pick<PacedConditions, "forget">;
  readonly drift: DriftWatch;
  readonly holders: Holders;
  readonly settings: LoadBalancerSettings;
  /** Of --adopt-load-balancers, as it is now. */
  readonly mayAdopt: () => boolean;
  readonly clock: Pick<Clock, "monotonicMs">;
}
