import type { KubeObject } from "../object.ts";
import { parseQuantity, roundUpToMilli } from "../schema/quantity.ts";
import { isCidr } from "../validation/addresses.ts";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../validation/field-error.ts";
import { dnsSubdomain, isLabelValue, qualifiedName } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Cell, Resource } from "./resource.ts";

type Taint = Readonly<{ key: string; value?: string; effect: string; timeAdded?: string }>;
type Address = Readonly<{ type: string; address: string }>;
type Quantities = Readonly<Record<string, string>>;

export type Node = KubeObject &
  Readonly<{
    spec: Readonly<{
      podCIDR?: string | undefined;
      podCIDRs?: readonly string[] | undefined;
      providerID?: string | undefined;
      unschedulable?: boolean | undefined;
      taints?: readonly Taint[] | undefined;
      configSource?: unknown;
      externalID?: string | undefined;
    }>;
    status: Readonly<{
      capacity?: Quantities | undefined;
      allocatable?: Quantities | undefined;
      conditions?: readonly Readonly<{ type: string; status: string }>[] | undefined;
      addresses?: readonly Address[] | undefined;
      config?: unknown;
      nodeInfo: Readonly<{
        kubeletVersion: string;
        osImage: string;
        kernelVersion: string;
        containerRuntimeVersion: string;
        architecture: string;
      }>;
    }>;
  }>;

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const notReadyTaint: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
const nanosPerUnit = 1_000_000_000n;
const podCidrField = "spec.podCIDRs";

/** `taintsNew`: whether a new node starts with the taint not-ready, which then someone has to lift. */
export function createNodes(taintsNew: boolean): Resource<Node> {
  return {
    group: "",
    version: "v1",
    name: "nodes",
    singular: "node",
    kind: "Node",
    type: "core.v1.Node",
    namespaced: false,
    shortNames: ["no"],
    nameRule: dnsSubdomain,
    strategy: {
      allowUnconditionalUpdate: true,
      applyDefaults,
      ...(taintsNew ? { admit: taintNotReady } : {}),
      prepareForCreate: (node) => ({
        ...node,
        spec: { ...node.spec, configSource: undefined },
        status: { ...node.status, config: undefined },
      }),
      prepareForUpdate: (node, old) => ({
        ...node,
        spec: { ...node.spec, configSource: old.spec.configSource },
        status: old.status,
      }),
      validate,
      validateUpdate: (node, old) => [...validateUpdate(node, old), ...validate(node)],
    },
    subresources: [
      {
        name: "status",
        verbs: ["get", "patch", "update"],
        prepareForUpdate: (node, old) => ({ ...node, spec: old.spec }),
        validateUpdate,
      },
    ],
    columns: [
      nameColumn,
      { name: "Status" },
      { name: "Roles" },
      ageColumn,
      { name: "Version" },
      { name: "Internal-IP", priority: 1 },
      { name: "External-IP", priority: 1 },
      { name: "OS-Image", priority: 1 },
      { name: "Kernel-Version", priority: 1 },
      { name: "Container-Runtime", priority: 1 },
    ],
    row,
    selectableFields: ["spec.unschedulable"],
    fieldsOf: (node) => ({ "spec.unschedulable": `${node.spec.unschedulable ?? false}` }),
  };
}

/** podCIDR is the older form of the first of podCIDRs; a node without allocatable has its capacity for it. */
function applyDefaults(node: Node): Node {
  const { spec, status } = node;
  const cidrs = spec.podCIDRs ?? (spec.podCIDR === undefined ? undefined : [spec.podCIDR]);
  return {
    ...node,
    spec: { ...spec, podCIDRs: cidrs, podCIDR: cidrs?.[0] },
    status: {
      ...status,
      capacity: rounded(status.capacity),
      allocatable: rounded(status.allocatable ?? status.capacity),
    },
  };
}

function rounded(amounts: Quantities | undefined): Quantities | undefined {
  if (amounts === undefined) return undefined;
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, roundUpToMilli(amount)] as const));
}

/** Admission plugin TaintNodesByCondition: no pod lands on a node before someone saw it ready. */
function taintNotReady(node: Node): Node {
  const taints = node.spec.taints ?? [];
  if (taints.some(({ key, effect }) => key === notReadyTaint.key && effect === notReadyTaint.effect)) return node;
  return { ...node, spec: { ...node.spec, taints: [...taints, notReadyTaint] } };
}

function validate(node: Node): readonly FieldError[] {
  const cidrs = node.spec.podCIDRs ?? [];
  return [
    ...validateTaints(node.spec.taints ?? []),
    ...validateResources(node),
    ...cidrs.flatMap((cidr, index) => isCidr(`${podCidrField}[${index}]`, cidr)),
    ...(cidrs.length > 2 || (cidrs.length === 2 && !isDualStack(cidrs))
      ? [invalidValue(podCidrField, cidrs, "may specify no more than one CIDR for each IP family")]
      : []),
  ];
}

function isDualStack(cidrs: readonly string[]): boolean {
  return new Set(cidrs.map((cidr) => cidr.includes(":"))).size === 2;
}

function validateUpdate(node: Node, old: Node): readonly FieldError[] {
  return [
    ...validateResources(node),
    ...validateAddresses(node.status.addresses ?? []),
    ...validatePodCidrsKept(node.spec.podCIDRs ?? [], old.spec.podCIDRs ?? []),
    ...validateProviderIdKept(node, old),
    ...validateTaints(node.spec.taints ?? []),
    ...(node.spec.externalID === old.spec.externalID ? [] : [forbiddenField("spec.externalID", "may not be updated")]),
  ];
}

function validateTaints(taints: readonly Taint[]): readonly FieldError[] {
  return taints.flatMap((taint, index) => {
    // The real server says metadata here; clients that read causes have to live with it.
    const field = `metadata.taints[${index}]`;
    const value = taint.value ?? "";
    const complaints = isLabelValue(value);
    const first = taints.findIndex(({ key, effect }) => key === taint.key && effect === taint.effect);
    return [
      ...qualifiedName(taint.key).map((complaint) => invalidValue(`${field}.key`, taint.key, complaint)),
      ...(complaints.length > 0 ? [invalidValue(`${field}.value`, value, complaints.join(";"))] : []),
      ...validateEffect(`${field}.effect`, taint.effect),
      ...(first < index ? [duplicateTaint(field, taint)] : []),
    ];
  });
}

function validateResources({ status }: Node): readonly FieldError[] {
  return (["capacity", "allocatable"] as const).flatMap((list) =>
    Object.entries(status[list] ?? {}).flatMap(([name, amount]) => {
      const field = `status.${list}.${name}`;
      const nanos = parseQuantity(amount)?.nanos ?? 0n;
      return [
        ...(nanos < 0n ? [invalidValue(field, amount, "must be greater than or equal to 0")] : []),
        ...(isCounted(name) && nanos % nanosPerUnit !== 0n ? [invalidValue(field, amount, "must be an integer")] : []),
      ];
    }),
  );
}

/** Resources of which there are no parts: pods, and everything that a device plugin offers. */
function isCounted(name: string): boolean {
  return name === "pods" || (name.includes("/") && !name.includes("kubernetes.io/"));
}

function validateEffect(field: string, effect: string): readonly FieldError[] {
  if (effect === "") return [required(field)];
  return taintEffects.includes(effect) ? [] : [notSupported(field, effect, taintEffects)];
}

function duplicateTaint(field: string, taint: Taint): FieldError {
  const value = {
    Key: taint.key,
    Value: taint.value ?? "",
    Effect: taint.effect,
    TimeAdded: taint.timeAdded ?? null,
  };
  return { kind: "duplicate", field, value, detail: "taints must be unique by key and effect pair" };
}

function validateAddresses(addresses: readonly Address[]): readonly FieldError[] {
  return addresses.flatMap((address, index) => {
    const first = addresses.findIndex((other) => other.type === address.type && other.address === address.address);
    if (first === index) return [];
    const value = { Type: address.type, Address: address.address };
    return [{ kind: "duplicate", field: `status.addresses[${index}]`, value } as const];
  });
}

function validatePodCidrsKept(cidrs: readonly string[], old: readonly string[]): readonly FieldError[] {
  const error = forbiddenField(podCidrField, 'node updates may not change podCIDR except from "" to valid');
  if (old.length === 0) return [];
  if (old.length !== cidrs.length) return [error];
  return old.flatMap((cidr, index) => (cidr === cidrs[index] ? [] : [error]));
}

function validateProviderIdKept(node: Node, old: Node): readonly FieldError[] {
  const before = old.spec.providerID ?? "";
  const after = node.spec.providerID ?? "";
  if (before === "" || before === after) return [];
  const done = after === "" ? "cleared" : "modified";
  return [invalidValue("spec.providerID", null, `field cannot be ${done} once set`)];
}

function row(node: Node, nowMs: number): readonly Cell[] {
  const { nodeInfo } = node.status;
  const architecture = nodeInfo.architecture === "" ? "" : ` (${nodeInfo.architecture})`;
  return [
    node.metadata.name ?? "",
    statusText(node),
    rolesText(node),
    age(node, nowMs),
    nodeInfo.kubeletVersion,
    addressOf(node, "InternalIP"),
    addressOf(node, "ExternalIP"),
    nodeInfo.osImage || "<unknown>",
    `${nodeInfo.kernelVersion || "<unknown>"}${architecture}`,
    nodeInfo.containerRuntimeVersion || "<unknown>",
  ];
}

function statusText(node: Node): string {
  const ready = node.status.conditions?.findLast((condition) => condition.type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return node.spec.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

function rolesText(node: Node): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.entries(node.metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(prefix)) return [key.slice(prefix.length)];
    return key === "kubernetes.io/role" ? [value] : [];
  });
  const named = [...new Set(roles.filter((role) => role !== ""))].sort();
  return named.length === 0 ? "<none>" : named.join(",");
}

function addressOf(node: Node, type: string): string {
  return node.status.addresses?.find((address) => address.type === type)?.address ?? "<none>";
}
