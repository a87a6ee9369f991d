import { reloadMetrics } from "../../../src/app/metrics.ts";
import { handoverMetrics } from "../../../src/leadership/handover.ts";
import { kubeletServingMetrics } from "../../../src/controllers/kubelet-serving-csr-approver/metrics.ts";
import { nodeMetrics } from "../../../src/controllers/node/metrics.ts";
import { nodeIpamMetrics } from "../../../src/controllers/node-ipam/metrics.ts";
import { nodeLifecycleMetrics } from "../../../src/controllers/node-lifecycle/metrics.ts";
import { admissionCounter, labelingCounter } from "../../../src/controllers/persistent-volume-label/metrics.ts";
import { routeMetrics } from "../../../src/controllers/route/metrics.ts";
import { exposeConditionReasons, serviceMetrics } from "../../../src/controllers/service/metrics.ts";
import { eventMetrics } from "../../../src/kube/events/metrics.ts";
import { informerMetrics } from "../../../src/kube/cache/metrics.ts";
import { electionMetrics } from "../../../src/leadership/elector.ts";
import { restMetrics } from "../../../src/kube/connection/metrics.ts";
import { exposePlans } from "../../../src/observe/plans.ts";
import { exposeProviders, providerMetrics } from "../../../src/provider/metrics.ts";
import { OwnershipReport } from "../../../src/provider/ownership/conflicts.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import { NO_RULES } from "../../../src/provider/model/provider.ts";
import { controllerMetrics, panicCounter } from "../../../src/runtime/metrics.ts";
import { accessMetrics } from "../../../src/server/access/metrics.ts";
import { HealthMetrics } from "../../../src/server/health.ts";
import { webhookMetrics } from "../../../src/server/webhooks/metrics.ts";
import { auditMetrics } from "../../../src/telemetry/audit-log.ts";
import { type MetricFamily, Metrics, exposeBuildInfo } from "../../../src/telemetry/metrics.ts";
import { createLogger } from "../../../src/telemetry/create-logger.ts";
import { recordingMetrics } from "../../../src/telemetry/recording-log.ts";
import { traceMetrics } from "../../../src/telemetry/trace-export.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { workqueueMetrics } from "../../../src/workqueue/metrics.ts";

/** A part of the program with the metric families that it makes. */
export interface MetricPart {
  readonly title: string;
  /** When there are any, and where. */
  readonly about: string;
  readonly families: readonly MetricFamily[];
}

const ALWAYS = "Always.";
const ON_LEADER = "On the leader, for each controller that runs.";

/** Every part, its families made by what the daemon calls. metrics-page.test.ts finds the one that is forgotten here. */
export const METRIC_PARTS: readonly MetricPart[] = [
  part("The process", ALWAYS, (metrics) => exposeBuildInfo(metrics, "0.0.0", "linux/x64")),
  part("Configuration", "Where `--config` names a file. On a standby too.", reloadMetrics),
  part("Leader election", "Where `--leader-elect` is not off. On a standby too.", electionMetrics, handoverMetrics),
  part("Controllers", ON_LEADER, controllerMetrics, panicCounter),
  part("Plans", "Where `--mode`, `--controller-mode` or `--provider-mode` says observe.", (metrics) =>
    exposePlans(metrics, { all: [], failedKeys: [] }),
  ),
  part("Workqueues", ON_LEADER, workqueueMetrics),
  part("Providers", "Once the cluster's identity is known. On a standby too.", status, providerMetrics, ownership),
  controller("cloud-node-controller", nodeMetrics),
  controller("cloud-node-lifecycle-controller", nodeLifecycleMetrics),
  controller("service-lb-controller", serviceMetrics, conditionReasons),
  controller("node-route-controller", routeMetrics),
  controller("node-ipam-controller", nodeIpamMetrics),
  controller("kubelet-serving-csr-approver", kubeletServingMetrics),
  controller("persistent-volume-label-controller", labelingCounter),
  part("Webhooks", "Where `--webhooks` turns one on. On a standby too.", webhookMetrics, admissionCounter),
  part("Calls of the API server", "On a standby too.", restMetrics),
  part("Caches of Kubernetes objects", "On a standby too.", informerMetrics),
  part("Events", ALWAYS, eventMetrics),
  part("Audit log", "Where `--audit-log-path` names a file. On a standby too.", auditMetrics),
  part("Recording", "Where `--record-provider` names a file. On a standby too.", recordingMetrics),
  part("Traces", "Where traces are on. On a standby too.", traceMetrics),
  part("Access to pages", "Where `--secure-port` is not 0. On a standby too.", accessMetrics),
  {
    title: "Health",
    about: "At `/metrics/slis`, not at `/metrics`. On a standby too.",
    families: new HealthMetrics({ liveness: [], readiness: [] }).metrics.families,
  },
];

function controller(name: string, ...makers: readonly ((metrics: Metrics) => unknown)[]): MetricPart {
  return part(name, `On the leader, where \`${name}\` is enabled.`, ...makers);
}

function part(title: string, about: string, ...makers: readonly ((metrics: Metrics) => unknown)[]): MetricPart {
  const metrics = new Metrics();
  for (const make of makers) make(metrics);
  return { title, about, families: metrics.families };
}

function status(metrics: Metrics): void {
  exposeProviders(metrics, []);
}

function conditionReasons(metrics: Metrics): void {
  exposeConditionReasons(metrics, () => [], providerSet([]));
}

function ownership(metrics: Metrics): OwnershipReport {
  const log = createLogger({
    format: "json",
    verbosity: () => 0,
    destination: { write: () => undefined },
    clock: systemClock(),
  });
  return new OwnershipReport({ providers: providerSet([]), rules: NO_RULES, nodes: () => [], metrics, log });
}
