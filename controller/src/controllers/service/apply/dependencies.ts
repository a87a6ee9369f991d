import type { KubeClient } from "../../../kube/client.ts";
import type { Service } from "../../../api/service.ts";
import type { EventRecorder } from "../../../kube/events/broadcaster.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/own-writes.ts";
import type { Provider, ProviderSet } from "../../../provider/model/provider.ts";
import type { Clock, Random } from "../../../util/clock.ts";
import type { ChangeLimiter } from "../../../provider/limits/change-limiter.ts";
import type { Conditions } from "./conditions.ts";
import type { DriftPace } from "../gather/owner.ts";
import { LoadBalancerSyncError } from "../errors.ts";
import type { Records } from "../record/records.ts";
import type { ServiceMetrics } from "../metrics.ts";

/** What this step changes things with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly services: Pick<Lister<Service>, "get">;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly events: EventRecorder;
  readonly metrics: ServiceMetrics;
  readonly records: Pick<Records, "get" | "commit">;
  /** A new ID for each intended change of a load balancer. */
  readonly newId: () => string;
  readonly gate: ChangeLimiter;
  readonly ownWrites: OwnWrites<Service>;
  readonly pace: DriftPace;
  /** What the Service is told in its condition. */
  readonly conditions: Conditions;
  /** What is done is not what the Service wishes now: a refusal of it says nothing of that wish. */
  readonly isMeanwhile?: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** The provider that a plan names. */
export function providerNamed({ providers }: Pick<ApplyDependencies, "providers">, name: string): Provider {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new LoadBalancerSyncError(`no provider is called ${name} any more`);
  return provider;
}
