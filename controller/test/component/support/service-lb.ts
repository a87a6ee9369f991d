import { afterEach } from "vitest";
import { asRecord, recordField, recordsField } from "../../../src/util/json.ts";
import { eventually } from "../../support/poll.ts";
import type { Balancer } from "./cloud.ts";
import type { CloudProviderOptions } from "./cloud-provider.ts";
import { Harness, type HarnessOptions, type Manager } from "./harness.ts";
import { initializedNode, loadBalancerService } from "./objects.ts";

export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
export const ENSURING = "Normal EnsuringLoadBalancer Ensuring load balancer";
export const ENSURED = "Normal EnsuredLoadBalancer Ensured load balancer";
export const UPDATED = "Normal UpdatedLoadBalancer Updated load balancer with new hosts";
export const PATH = "namespaces/default/services/web";
/** What a masked write says of the load balancer in the Service's condition. */
export const saying = (status: string, reason: string, message: string): string =>
  `"conditions":[{"type":"cloudwire.dev/LoadBalancerReady","status":"${status}","reason":"${reason}","message":"${message}","lastTransitionTime":"T"}]`;
export const READY = saying("True", "Ready", "The load balancer matches the spec of the Service.");
const PROVISIONING = saying("False", "Provisioning", "The load balancer is being created.");
export const UNSAID = `"conditions":[{"$patch":"delete","type":"cloudwire.dev/LoadBalancerReady"}]`;
/** The first write for a new Service. */
export const TAKE_UP = `PATCH ${PATH}/status {"metadata":{"uid":"U","finalizers":["${FINALIZER}"]},"status":{${PROVISIONING}}}`;
export const ADD_FINALIZER = `PATCH ${PATH}/status {"metadata":{"uid":"U","finalizers":["${FINALIZER}"]}}`;

interface SettledOptions extends Pick<HarnessOptions, "driftPeriodMs"> {
  readonly provider?: CloudProviderOptions;
  /** Of the Service. */
  readonly annotations?: Readonly<Record<string, string>>;
}

interface ServiceLbHelpers {
  readonly start: (options?: HarnessOptions) => Promise<void>;
  /** A cluster with two nodes and a load balancer that is as it should be; what happened so far is forgotten. */
  readonly startSettled: (options?: SettledOptions) => Promise<Manager>;
  readonly web: () => unknown;
  readonly ip: () => string | undefined;
  readonly balancer: () => Balancer | undefined;
  /** `status reason: message` of the Service's condition. */
  readonly condition: () => string | undefined;
  /** Events without the counts of repetition. */
  readonly reasons: () => readonly string[];
}

/** Registers the clean-up of a file's tests; `started` is given the harness of each of them. */
export function serviceLbHelpers(started: (harness: Harness) => void): ServiceLbHelpers {
  let harness: Harness;

  async function start(options: HarnessOptions = {}): Promise<void> {
    harness = await Harness.start(options);
    started(harness);
  }

  async function startSettled({ provider, annotations = {}, ...options }: SettledOptions = {}): Promise<Manager> {
    const service = loadBalancerService("web", { metadata: { annotations } });
    await start({ objects: [initializedNode("a"), initializedNode("b"), service], ...options });
    await harness.startProvider(provider);
    const manager = harness.startManager().startServices();
    await eventually("the address is published", () => ip() !== undefined);
    await harness.quiet();
    forget();
    return manager;
  }

  function forget(): void {
    harness.cluster.clearRequests();
    harness.cloud.calls.length = 0;
  }

  afterEach(async () => {
    const { overlaps } = harness.cloud;
    await harness[Symbol.asyncDispose]();
    if (overlaps.length > 0) throw new Error(`calls for one Service overlapped: ${overlaps.join("; ")}`);
  });

  function web(): unknown {
    return harness.cluster.read("v1", "Service", "default", "web");
  }

  function ip(): string | undefined {
    return /"ingress":\[\{"ip":"([^"]+)"/.exec(JSON.stringify(web()) ?? "")?.[1];
  }

  function balancer(): Balancer | undefined {
    return [...harness.cloud.balancers.values()][0];
  }

  function reasons(): readonly string[] {
    return harness.events("web").map((event) => event.replace(/ x\d+$/, ""));
  }

  function condition(): string | undefined {
    const conditions = recordsField(recordField(asRecord(web(), "web"), "status"), "conditions", (item) => item);
    const ready = conditions.find((condition) => condition["type"] === "cloudwire.dev/LoadBalancerReady");
    return ready && `${String(ready["status"])} ${String(ready["reason"])}: ${String(ready["message"])}`;
  }

  return { start, startSettled, web, ip, balancer, condition, reasons };
}
