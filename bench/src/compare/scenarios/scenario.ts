import type { Peer } from "../peers/peers.ts";
import type { Done } from "../measure/observations.ts";
import type { Stage } from "../measure/environment.ts";

/** How much of what a scenario is about; steadySeconds: how long nothing happens. */
export type Size = "nodes" | "services" | "joining" | "steadySeconds";

export type Sizes = Readonly<Partial<Record<Size, number>>>;

export interface Scenario {
  readonly name: string;
  /** All sizes that it depends on, as the goals want them. */
  readonly sizes: Sizes;
  /** The peers of its goals; others take part only on request. */
  readonly peers: readonly string[];
  readonly about: (sizes: Sizes) => string;
  /** Additional flags of all controllers. */
  readonly flags?: readonly string[];
  /** Prepares the environment, calls stage.fromHere() before the work, and returns the completed share and the time. */
  readonly run: (stage: Stage, peer: Peer, sizes: Sizes) => Promise<Done>;
  /** Whether the raw writer shows the limit of the API server. */
  readonly hasRawWriter?: true;
}

/** So long without a call of the cloud is an end: longer than any pause between two parts of one work. */
export const STILL_MS = 5000;

/** Nodes where a scenario is about something else. */
export const FEW_NODES = 20;

/** A size that the scenario has. */
export function sizeOf(sizes: Sizes, size: Size): number {
  const value = sizes[size];
  if (value === undefined) throw new Error(`a scenario has no size ${size} and asks for it`);
  return value;
}

/** A peer at rest, with all Services served. */
export async function atRest(stage: Stage, peer: Peer, nodes: number, services: number): Promise<void> {
  await stage.addReadyNodes(nodes);
  await stage.addServices(services);
  await stage.startPeer(peer);
  await stage.servicesAddressed(services);
  await stage.cloudLeftAlone(STILL_MS);
}
