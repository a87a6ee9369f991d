import type { Instance, InstanceState, NodeAddress } from "@cloudwire/provider-sdk";
import { type Family, familyOf } from "@cloudwire/provider-sdk/addresses";

/** A machine as its source returns it. */
export interface Machine {
  /** The same for the life of the machine. */
  readonly id: string;
  /** Name of its Node. */
  readonly name: string;
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  readonly addresses: readonly NodeAddress[];
  /** Undefined: its source does not know. */
  readonly state: InstanceState | undefined;
  readonly stateReason: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly podCidrs: readonly string[] | undefined;
}

/** The known machines, and whether the list is complete. */
export interface Machines {
  /** By the ID in lower case: {@link machineOf}. */
  readonly byId: ReadonlyMap<string, Machine>;
  readonly byName: ReadonlyMap<string, readonly Machine[]>;
  /** Why a missing machine may still exist; empty: the list is complete. */
  readonly problems: readonly string[];
  readonly readTime: Date;
}

export function toMachines(machines: readonly Machine[], readTime: Date, problems: readonly string[] = []): Machines {
  return {
    byId: new Map(machines.map((machine) => [machine.id.toLowerCase(), machine])),
    byName: Map.groupBy(machines, ({ name }) => name),
    problems,
    readTime,
  };
}

/** The letter case of an ID does not count ([BAT-6]): some firmware writes UUIDs in capitals, which a kubelet may get as provider ID. */
export function machineOf({ byId }: Pick<Machines, "byId">, id: string): Machine | undefined {
  return byId.get(id.toLowerCase());
}

/** The machine as Kubernetes takes it over. */
export function toInstance(machine: Machine): Instance {
  const { id, name, type, zone, region, addresses, state, stateReason, labels, podCidrs } = machine;
  return {
    id,
    name,
    ...(type === undefined ? {} : { type }),
    ...(zone === undefined ? {} : { zone }),
    ...(region === undefined ? {} : { region }),
    addresses,
    ...(state === undefined ? {} : { state }),
    ...(stateReason === undefined ? {} : { stateReason }),
    labels,
    podCidrs: podCidrs ?? [],
  };
}

/** The address under which others reach the machine. */
export function internalAddress(addresses: readonly NodeAddress[], family: Family): string | undefined {
  return addresses.find(({ type, address }) => type === "InternalIP" && familyOf(address) === family)?.address;
}
