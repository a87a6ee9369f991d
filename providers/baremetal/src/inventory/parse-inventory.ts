import type { NodeAddress } from "@cloudwire/provider-sdk";
import { type Static, Type } from "typebox";
import { parse as parseYaml } from "yaml";
import { type Checked, checked } from "../util/checked.ts";
import { canonicalAddress, parseCidr } from "@cloudwire/provider-sdk/addresses";
import { labelValue, nodeNamePattern } from "../util/kubernetes.ts";
import type { Machine } from "./machine.ts";

/** Part of a provider ID: what stands behind `baremetal://`. */
export const machineIdPattern = /^[a-z0-9]([a-z0-9._-]{0,118}[a-z0-9])?$/;
const labelKey = "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$";
const texts = Type.Array(Type.String({ minLength: 1 }));
const strict = { additionalProperties: false };

const machineSchema = Type.Object(
  {
    id: Type.String({ pattern: machineIdPattern.source }),
    name: Type.Optional(Type.String({ pattern: nodeNamePattern.source })),
    type: Type.Optional(labelValue),
    zone: Type.Optional(labelValue),
    region: Type.Optional(labelValue),
    state: Type.Optional(Type.Union([Type.Literal("running"), Type.Literal("stopped")])),
    internalIPs: Type.Array(Type.String(), { minItems: 1 }),
    externalIPs: Type.Optional(Type.Array(Type.String())),
    internalDNS: Type.Optional(texts),
    externalDNS: Type.Optional(texts),
    hostname: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    labels: Type.Optional(Type.Record(Type.String({ pattern: labelKey }), labelValue, strict)),
    podCIDRs: Type.Optional(Type.Array(Type.String())),
  },
  strict,
);

const inventorySchema = Type.Object({ machines: Type.Array(machineSchema) }, strict);

/** One file of an inventory: its name, as messages call it, and its text. */
export interface InventoryFile {
  readonly name: string;
  readonly text: string;
}

/** All machines of all files, or all problems. One problem makes the inventory invalid, because a partial one proves no absence. */
export function parseInventory(files: readonly InventoryFile[]): Checked<readonly Machine[]> {
  const problems: string[] = [];
  const machines = files.flatMap((file) => {
    const parsed = parseFile(file.text);
    if (parsed.kind === "value") return parsed.value.map((machine) => ({ file: file.name, machine }));
    problems.push(...parsed.problems.map((problem) => `${file.name}: ${problem}`));
    return [];
  });
  if (files.length === 0) problems.push("there is no inventory file; an empty inventory is a file with `machines: []`");
  const seen = new Map<string, string>();
  for (const { file, machine } of machines) {
    for (const what of uniqueOf(machine)) {
      const other = seen.get(what);
      if (other === undefined) seen.set(what, `${machine.id} in ${file}`);
      else problems.push(`${file}: machine ${machine.id}: ${what} is also that of machine ${other}`);
    }
  }
  if (problems.length > 0) return { kind: "problems", problems };
  return { kind: "value", value: machines.map(({ machine }) => machine) };
}

/** What no two machines may share. */
function uniqueOf({ id, name, addresses, podCidrs = [] }: Machine): readonly string[] {
  const ips = addresses.filter(({ type }) => type === "InternalIP" || type === "ExternalIP");
  return [
    `id ${id}`,
    `name ${name}`,
    ...new Set(ips.map(({ address }) => `address ${address}`)),
    ...podCidrs.map((cidr) => `pod CIDR ${cidr}`),
  ];
}

function parseFile(text: string): Checked<readonly Machine[]> {
  let data: unknown;
  try {
    data = parseYaml(text);
  } catch (error) {
    return {
      kind: "problems",
      problems: [`is not valid YAML: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
  const file = checked(inventorySchema, data);
  if (file.kind === "problems") return file;
  const problems: string[] = [];
  const machines = file.value.machines.map((machine, index) => toMachine(machine, `machines[${index}]`, problems));
  return problems.length > 0 ? { kind: "problems", problems } : { kind: "value", value: machines };
}

function toMachine(machine: Static<typeof machineSchema>, place: string, problems: string[]): Machine {
  const name = machine.name ?? machine.id;
  const ips = (type: "InternalIP" | "ExternalIP", field: string, list: readonly string[] = []): NodeAddress[] =>
    list.flatMap((text, index) => {
      const address = canonicalAddress(text);
      if (address === undefined) problems.push(`${place}.${field}[${index}]: ${text} is not an IP address`);
      return address === undefined ? [] : { type, address };
    });
  const podCidrs = machine.podCIDRs?.flatMap((text, index) => {
    const cidr = parseCidr(text);
    if (cidr === undefined) problems.push(`${place}.podCIDRs[${index}]: ${text} is not a network`);
    return cidr?.text ?? [];
  });
  return {
    id: machine.id,
    name,
    type: machine.type,
    zone: machine.zone,
    region: machine.region,
    addresses: [
      ...ips("InternalIP", "internalIPs", machine.internalIPs),
      ...ips("ExternalIP", "externalIPs", machine.externalIPs),
      ...(machine.internalDNS ?? []).map((address) => ({ type: "InternalDNS", address }) as const),
      ...(machine.externalDNS ?? []).map((address) => ({ type: "ExternalDNS", address }) as const),
      { type: "Hostname", address: machine.hostname ?? name },
    ],
    state: machine.state === "stopped" ? "STOPPED" : "RUNNING",
    stateReason: undefined,
    labels: machine.labels ?? {},
    podCidrs,
  };
}
