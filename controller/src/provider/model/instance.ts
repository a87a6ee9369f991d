import type { NodeAddress } from "../../api/node.ts";
import type { ProviderError } from "./errors.ts";

/** The data by which a provider finds the instance of a Node. */
export interface NodeRef {
  readonly name: string;
  readonly uid: string;
  /** "": unknown. */
  readonly providerId: string;
  /** 0: unknown. */
  readonly createTimeMs: number;
  readonly systemUuid: string;
  readonly providedNodeIps: readonly string[];
  /** Only those within the contract's limits. */
  readonly addresses: readonly NodeAddress[];
  /** Of the Node, with declared keys. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** An instance in the cloud. undefined or empty: unknown; keep the Node's value. */
export interface Instance {
  /** `<prefix><id>` for spec.providerID. */
  readonly providerId: string;
  /** Name in the cloud. */
  readonly name: string;
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  /** In the cloud's order of preference, without duplicates and unknown types. */
  readonly addresses: readonly NodeAddress[];
  readonly state: InstanceState;
  /** The cloud's name of the state, informational. */
  readonly stateReason: string;
  /** Additional labels for the Node, unfiltered. */
  readonly labels: Readonly<Record<string, string>>;
  /** undefined: the provider does not allocate pod CIDRs; empty: none allocated yet. */
  readonly podCidrs: readonly string[] | undefined;
  readonly createTimeMs: number | undefined;
  /** Opaque; changes when any other property changes. */
  readonly revision: string;
  /** What was dropped from the provider's response, to be logged. */
  readonly warnings: readonly string[];
}

/** "unknown": unset or a newer value. */
export type InstanceState = "unknown" | "pending" | "running" | "stopping" | "stopped" | "terminating";

/** Evidence of an absence: the cloud reports the termination, a look-up by ID missed, or a complete list lacks it. */
export type AbsenceBasis = "terminated" | "lookupMiss" | "completeListMiss";

/** An authoritative absence with its evidence. */
export interface Absence {
  readonly basis: AbsenceBasis;
  /** When the cloud was read. */
  readonly observeTimeMs: number;
  /** A second read would give the same result. */
  readonly strong: boolean;
  readonly witness: Witness;
}

/** The provider process of a response. */
export interface Witness {
  readonly provider: string;
  readonly scopeId: string;
  readonly bootId: string;
  /** Arrival of the response. */
  readonly receivedAtMs: number;
}

/** A provider's result. */
export type InstanceAnswer =
  | { readonly kind: "present"; readonly instance: Instance; readonly readTimeMs: number; readonly witness: Witness }
  | ({ readonly kind: "absent" } & Absence)
  | { readonly kind: "unknown"; readonly error: ProviderError }
  | { readonly kind: "notOwned"; readonly message: string };

/**
 * Only "absent" means that the Node's instance does not exist. "noMatch": no instance has the name of a Node without provider ID, which
 * says nothing about the Node: its instance may be listed late, have another name, or belong to no provider.
 */
export type InstanceResult = InstanceAnswer | ({ readonly kind: "noMatch" } & Absence);
