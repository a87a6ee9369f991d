import type { KubeClient } from "../../../kube/client.ts";
import type { Service } from "../../../api/service.ts";
import type { EventRecorder } from "../../../kube/events/broadcaster.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/own-writes.ts";
import type { Provider, ProviderSet } from "../../../provider/model/provider.ts";
import type { Clock, Random } from "../../../util/clock.ts";
import type { ChangeGate } from "../../../provider/limits/change-gate.ts";
import type { Conditions } from "./conditions.ts";
import type { DriftWatch } from "../drift-watch.ts";
import { LoadBalancerSyncError } from "../errors.ts";
import type { Ledger } from "../ledger.ts";
import type { ServiceMetrics } from "../metrics.ts";

/** What this step changes things with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly lister: Pick<Lister<Service>, "get">;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly events: EventRecorder;
  readonly metrics: ServiceMetrics;
  readonly ledger: Ledger;
  readonly gate: ChangeGate;
  readonly ownWrites: OwnWrites<Service>;
  readonly drift: DriftWatch;
  /** What the Service is told in its condition. */
  readonly conditions: Conditions;
  /** What is done is not what the Service wishes now: a refusal of it says nothing of that wish. */
  readonly isMeanwhile?: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** The provider that a plan names. */
export function providerNamed({ providers }: ApplyDependencies, name: string): Provider {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new LoadBalancerSyncError(`no provider is called ${name} any more`);
  return provider;
}
