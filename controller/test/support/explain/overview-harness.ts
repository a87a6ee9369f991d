import type { Node } from "../../../src/api/node.ts";
import type { Service } from "../../../src/api/service.ts";
import { operatorOverview } from "../../../src/explain/overview/overview.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import type { ProviderSnapshot } from "../../../src/provider/sidecar.ts";
import type { SupervisedController } from "../../../src/runtime/supervised-controller.ts";
import { startLoopbackServer } from "../../../src/server/loopback-server.ts";
import type { RunningServer } from "../../../src/server/endpoints.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { snapshot } from "./explain-builders.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeLog } from "../fake-log.ts";
import { idleProvider } from "../provider/provider-builders.ts";

/** The operators' endpoints of a cluster that a test controls, over real HTTP. One provider, `east`. */
export interface OverviewHarness extends AsyncDisposable {
  readonly url: string;
  readonly nodes: FakeInformer<Node>;
  readonly services: FakeInformer<Service>;
  /** How the provider is; may be replaced. */
  provider: ProviderSnapshot;
  readonly server: RunningServer;
}

/** @param controllers at work. @default none */
export async function startOverviewHarness(
  hasRoutes = false,
  controllers: readonly SupervisedController[] = [],
): Promise<OverviewHarness> {
  const nodes = new FakeInformer<Node>();
  const services = new FakeInformer<Service>();
  const shown = { provider: snapshot() };
  const providers = providerSet([idleProvider("east", shown.provider.info)]);
  const pages = operatorOverview({
    cluster: "test",
    replica: () => ({ identity: "replica-1", isLeader: true, version: "1.2.3" }),
    observing: false,
    nodes,
    services,
    providers: () => providers,
    providerSnapshots: () => [shown.provider],
    controllerNames: [],
    controllers: () => controllers,
    hasRoutes,
    metrics: new Metrics(),
    clock: systemClock(),
    log: new FakeLog(),
  });
  const server = await startLoopbackServer({
    address: { host: "127.0.0.1", port: 0 },
    register: (on) => pages.serve(on),
  });
  return Object.assign(shown, {
    url: server.url,
    nodes,
    services,
    server,
    [Symbol.asyncDispose]: () => server.close(),
  });
}
