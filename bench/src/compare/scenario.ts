import type { Peer } from "./peers.ts";
import type { Stage } from "./stage.ts";

export interface Sizes {
  readonly nodes: number;
  readonly services: number;
  /** Nodes that join while Services are there. */
  readonly joining: number;
  /** How long nothing happens in the scenario of that. */
  readonly steadyMs: number;
}

export interface Scenario {
  readonly name: string;
  readonly about: (sizes: Sizes) => string;
  /** Sets the stage, calls stage.fromHere(), and answers how many seconds the peer took for the work. */
  readonly run: (stage: Stage, peer: Peer, sizes: Sizes) => Promise<number>;
  /** Whether the API server's own limit can be seen beside the peers. */
  readonly hasRawWriter?: true;
}

/** Upstream with its defaults initialises not quite seven nodes a second. */
export const TIMEOUT_MS = 3_600_000;

/** So long without a call of the cloud is an end: longer than any pause between two parts of one work. */
export const STILL_MS = 5000;

/** Nodes where a scenario is about something else. */
export const FEW_NODES = 20;

export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}

/** A peer at rest, with all Services served. */
export async function atRest(stage: Stage, peer: Peer, nodes: number, services: number): Promise<void> {
  await stage.addReadyNodes(nodes);
  await stage.addServices(services);
  await stage.startPeer(peer);
  await stage.servicesAddressed(services, TIMEOUT_MS);
  await stage.cloudLeftAlone(STILL_MS, TIMEOUT_MS);
}
