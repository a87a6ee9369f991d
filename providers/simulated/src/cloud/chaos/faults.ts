import { type Fault, type FaultKind, type FaultSpec, replacingFaultKinds } from "../../api/admin.ts";
import { CloudError } from "../errors.ts";
import { type Geography, regionOfZone } from "../geography.ts";
import type { Random } from "../random.ts";
import { fits } from "./pattern.ts";

interface Planned {
  readonly id: string;
  readonly spec: FaultSpec;
  readonly createdMs: number;
  strikes: number;
}

export interface FaultsOptions {
  readonly now: () => number;
  readonly random: Random;
  readonly geography: Geography;
}

/** Faults planned by the admin. They live as long as the process: a cloud that restarts is well again. */
export class Faults {
  readonly #options: FaultsOptions;
  #planned: Planned[] = [];
  #lastId = 0;

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  add(spec: FaultSpec): Fault {
    checkSpec(spec, this.#options.geography);
    this.#lastId += 1;
    const planned = { id: `fault-${this.#lastId}`, spec, createdMs: this.#options.now(), strikes: 0 };
    this.#planned.push(planned);
    return toFault(planned);
  }

  list(): Fault[] {
    this.#forgetOver();
    return this.#planned.map(toFault);
  }

  remove(id: string): boolean {
    const before = this.#planned.length;
    this.#planned = this.#planned.filter((planned) => planned.id !== id);
    return this.#planned.length < before;
  }

  clear(): void {
    this.#planned = [];
  }

  /** The faults that strike this call: each is counted. */
  strike(operation: string): FaultSpec[] {
    this.#forgetOver();
    const striking = this.#planned.filter(
      ({ spec }) =>
        fits(spec.operation ?? "*", operation) &&
        (spec.probability === undefined || this.#options.random() < spec.probability),
    );
    for (const planned of striking) planned.strikes += 1;
    return striking.map(({ spec }) => spec);
  }

  #forgetOver(): void {
    const nowMs = this.#options.now();
    this.#planned = this.#planned.filter(
      ({ spec, strikes, createdMs }) =>
        (spec.count === undefined || strikes < spec.count) &&
        (spec.durationMs === undefined || nowMs < createdMs + spec.durationMs),
    );
  }
}

/** Faults that replace the answer, as opposed to those that spoil the data in it. */
export const replacingKinds: ReadonlySet<FaultKind> = new Set(replacingFaultKinds);

const checkSpec = (spec: FaultSpec, geography: Geography): void => {
  const refuse = (message: string): never => {
    throw new CloudError("InvalidRequest", `fault ${spec.kind}: ${message}`);
  };
  if (spec.kind === "zoneOutage") regionOfZone(geography, spec.zone ?? refuse("zone is missing"));
  else if (spec.zone !== undefined) refuse("zone belongs to zoneOutage only");
  if ((spec.kind === "staleReplica") !== (spec.staleMs !== undefined))
    refuse("staleMs belongs to staleReplica, and only there");
  if (spec.phase === "after" && !replacingKinds.has(spec.kind))
    refuse("phase after needs a fault that replaces the answer");
};

const toFault = ({ id, spec, createdMs, strikes }: Planned): Fault => ({
  ...spec,
  id,
  strikes,
  createdAt: new Date(createdMs).toISOString(),
});
