import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { type FieldError, required } from "../validation/field-error.ts";
import { dnsSubdomain } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Cell, Resource } from "./resource.ts";

type Container = Readonly<{
  name: string;
  image?: string | undefined;
  terminationMessagePath?: string | undefined;
  terminationMessagePolicy?: string | undefined;
  imagePullPolicy?: string | undefined;
}>;

type ContainerStatus = Readonly<{
  ready: boolean;
  restartCount: number;
  state: Readonly<{ running?: object }>;
}>;

export type Pod = KubeObject &
  Readonly<{
    spec: Readonly<{
      containers: readonly Container[] | null;
      nodeName?: string | undefined;
      restartPolicy?: string | undefined;
      dnsPolicy?: string | undefined;
      schedulerName?: string | undefined;
      terminationGracePeriodSeconds?: number | undefined;
      securityContext?: object | undefined;
      enableServiceLinks?: boolean | undefined;
      priority?: number | undefined;
      preemptionPolicy?: string | undefined;
      tolerations?: readonly Readonly<Record<string, unknown>>[] | undefined;
    }>;
    status: Readonly<{
      phase?: string | undefined;
      reason?: string | undefined;
      podIP?: string | undefined;
      containerStatuses?: readonly ContainerStatus[] | undefined;
      qosClass?: string | undefined;
    }>;
  }>;

const graceSeconds = 30;
/** Admission plugin DefaultTolerationSeconds. */
const tolerationSeconds = 300;

/** Just enough of pods for `kubectl describe node` and for workloads in a demo: nothing runs them. */
export const pods: Resource<Pod> = {
  group: "",
  version: "v1",
  name: "pods",
  singular: "pod",
  kind: "Pod",
  type: "core.v1.Pod",
  namespaced: true,
  shortNames: ["po"],
  categories: ["all"],
  nameRule: dnsSubdomain,
  strategy: {
    allowUnconditionalUpdate: true,
    returnsDeleted: true,
    gracePeriodSeconds,
    applyDefaults,
    admit: tolerateTrouble,
    prepareForCreate: (pod) => ({
      ...withMetadata(pod, { generation: 1 }),
      status: { phase: "Pending", qosClass: "BestEffort" },
    }),
    prepareForUpdate: (pod, old) => countGeneration({ ...pod, status: old.status }, old),
    validate,
    validateUpdate: validate,
  },
  subresources: [
    {
      name: "status",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (pod, old) => ({ ...pod, spec: old.spec }),
    },
  ],
  columns: [
    nameColumn,
    { name: "Ready" },
    { name: "Status" },
    { name: "Restarts" },
    ageColumn,
    { name: "IP", priority: 1 },
    { name: "Node", priority: 1 },
    { name: "Nominated Node", priority: 1 },
    { name: "Readiness Gates", priority: 1 }, // words-ok: kubectl's column
  ],
  row,
  selectableFields: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  fieldsOf: ({ spec, status }) => ({
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": "",
    "spec.hostNetwork": "false",
    "status.phase": status.phase ?? "",
    "status.podIP": status.podIP ?? "",
    "status.nominatedNodeName": "",
  }),
};

function countGeneration(pod: Pod, old: Pod): Pod {
  if (JSON.stringify(pod.spec) === JSON.stringify(old.spec)) return pod;
  return withMetadata(pod, { generation: (old.metadata.generation ?? 0) + 1 });
}

/** A pod that a kubelet may run gets time to end; others go at once. */
function gracePeriodSeconds({ spec, status }: Pod, requested: number | undefined): number {
  const ended = status.phase === "Succeeded" || status.phase === "Failed";
  if (spec.nodeName === undefined || ended) return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? graceSeconds;
}

function applyDefaults(pod: Pod): Pod {
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers?.map(applyContainerDefaults) ?? spec.containers,
      restartPolicy: spec.restartPolicy ?? "Always",
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? graceSeconds,
      dnsPolicy: spec.dnsPolicy ?? "ClusterFirst",
      securityContext: spec.securityContext ?? {},
      schedulerName: spec.schedulerName ?? "default-scheduler",
      enableServiceLinks: spec.enableServiceLinks ?? true,
    },
  };
}

function applyContainerDefaults(container: Container): Container {
  const tag = /:([^:/@]+)$/.exec(container.image ?? "")?.[1];
  const latest = tag === undefined ? !(container.image ?? "").includes("@") : tag === "latest";
  return {
    ...container,
    terminationMessagePath: container.terminationMessagePath ?? "/dev/termination-log",
    terminationMessagePolicy: container.terminationMessagePolicy ?? "File",
    imagePullPolicy: container.imagePullPolicy ?? (latest ? "Always" : "IfNotPresent"),
  };
}

/** Admission plugins DefaultTolerationSeconds and Priority. */
function tolerateTrouble(pod: Pod): Pod {
  const added = ["not-ready", "unreachable"].map((trouble) => ({
    key: `node.kubernetes.io/${trouble}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds,
  }));
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      ...spec,
      tolerations: [...(spec.tolerations ?? []), ...added],
      priority: spec.priority ?? 0,
      preemptionPolicy: spec.preemptionPolicy ?? "PreemptLowerPriority",
    },
  };
}

function validate({ spec }: Pod): readonly FieldError[] {
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required("spec.containers")];
  return containers.flatMap((container, index) => [
    ...(container.name === "" ? [required(`spec.containers[${index}].name`)] : []),
    ...((container.image ?? "") === "" ? [required(`spec.containers[${index}].image`)] : []),
  ]);
}

function row(pod: Pod, nowMs: number): readonly Cell[] {
  const { spec, status, metadata } = pod;
  const statuses = status.containerStatuses ?? [];
  const ready = statuses.filter((container) => container.ready && container.state.running !== undefined).length;
  const restarts = statuses.reduce((sum, container) => sum + container.restartCount, 0);
  return [
    nameOf(pod),
    `${ready}/${spec.containers?.length ?? 0}`,
    metadata.deletionTimestamp === undefined ? (status.reason ?? status.phase ?? "") : "Terminating",
    `${restarts}`,
    age(pod, nowMs),
    status.podIP ?? "<none>",
    spec.nodeName ?? "<none>",
    "<none>",
    "<none>",
  ];
}
