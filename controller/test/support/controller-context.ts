import type { EventInput } from "../../src/api/event.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Provider, ProviderSet } from "../../src/provider/model/provider.ts";
import { providerSet } from "../../src/provider/ownership/provider-set.ts";
import type { Controller, ControllerEnvironment } from "../../src/runtime/controller.ts";
import type { ControllerMetrics } from "../../src/runtime/metrics.ts";
import type { ControllerContext, Registered } from "../../src/runtime/registration.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { NO_QUEUE_METRICS } from "../../src/workqueue/metrics.ts";
import { FakeInformer } from "./kube/fake-informer.ts";
import { FakeLog } from "./fake-log.ts";

export interface EnvironmentParts extends Pick<ControllerEnvironment["program"], "clock"> {
  /** @default "a-controller" */
  readonly name?: string;
  readonly log?: ControllerEnvironment["program"]["log"];
  /** @default id-1, id-2, … */
  readonly newId?: () => string;
  readonly controllerMetrics?: Partial<ControllerMetrics>;
}

/** What a controller runs with in a test. */
export function controllerEnvironment(parts: EnvironmentParts): ControllerEnvironment {
  const { name = "a-controller", clock, log = new FakeLog(), controllerMetrics } = parts;
  let ids = 0;
  const { newId = () => `id-${++ids}` } = parts;
  return {
    name,
    program: { clock, log, tracing: NO_TRACING, newId },
    metrics: {
      queue: NO_QUEUE_METRICS,
      controller: { running: () => undefined, reconciled: () => undefined, ...controllerMetrics },
    },
  };
}

/** As in `holderIdentity` of a Lease. */
export const PROCESS = "a-process";

type Cluster = ControllerContext<unknown>["cluster"];

export interface ContextParts<Options> extends EnvironmentParts, Partial<Omit<Cluster, "client" | "events">> {
  readonly options: Options;
  readonly metrics?: Metrics;
  readonly client: KubeClient;
  /** Receives each Event. @default none */
  readonly record?: (event: EventInput) => void;
  readonly providers?: readonly Provider[] | ProviderSet;
  /** @default rejects */
  readonly instances?: ControllerContext<unknown>["providers"]["instances"];
  /** Those who want to hear that a provider has become usable. */
  readonly readyListeners?: Set<() => void>;
}

/** What a controller is made from in a test. What a part is not given for must not be used. */
export function controllerContext<Options>(parts: ContextParts<Options>): ControllerContext<Options> {
  const { options, client, metrics = new Metrics(), readyListeners = new Set(), providers = [] } = parts;
  const { record = () => undefined, instances = { get: () => Promise.reject(new Error("unexpected lookup")) } } = parts;
  const environment = controllerEnvironment(parts);
  return {
    ...environment,
    options,
    program: { ...environment.program, identity: PROCESS, random: () => 0.5, metrics },
    cluster: {
      apiServerHost: parts.apiServerHost ?? "api.test",
      client,
      events: { recorder: () => ({ record }) },
      nodes: parts.nodes ?? new FakeInformer(),
      services: parts.services ?? new FakeInformer(),
      persistentVolumes: parts.persistentVolumes ?? new FakeInformer(),
      kubeletServingRequests: parts.kubeletServingRequests ?? new FakeInformer(),
    },
    providers: {
      providers: "ownerOfNode" in providers ? providers : providerSet(providers),
      instances,
      onReady: (listener) => {
        readyListeners.add(listener);
        return () => readyListeners.delete(listener);
      },
    },
  };
}

/** An instance of a controller that has something to do. */
export function built(registered: Registered | undefined): Controller {
  if (registered === undefined) throw new Error("the options leave nothing for the controller to do");
  return registered.build();
}

/** Takes no call: for what a test does not expect. */
export const REFUSING_CLIENT: KubeClient = {
  get: refuse,
  list: refuse,
  create: refuse,
  update: refuse,
  patch: refuse,
  delete: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(new Error("the API server was not to be called"));
}
