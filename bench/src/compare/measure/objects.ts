import type { CloudClient, Instance } from "@cloudwire/provider-simulated";
import { type Json, type Kube, at, listOf } from "@cloudwire/test";
import { pick } from "../../lib/random.ts";

const SAMPLE = 10;

export interface Sampled {
  /** Of all objects. */
  readonly paths: readonly string[];
  readonly isDone: (object: Json) => boolean;
  /** The look at all of them. */
  readonly areAllDone: () => Promise<boolean>;
}

/**
 * Whether all objects are done, at little cost while they are not: some are read by chance, and all only when each of these is done.
 * A list of 5,000 nodes ten times a second would take half a core of the API server, which the peers need.
 */
export async function areDone(
  kube: Pick<Kube, "get">,
  random: () => number,
  { paths, isDone, areAllDone }: Sampled,
): Promise<boolean> {
  for (let read = 0; read < SAMPLE; read += 1) {
    const path = pick(random, paths);
    if (path !== undefined && !isDone(await kube.get(path))) return false;
  }
  return areAllDone();
}

const CALL_MS = 120_000;
/** The cloud makes no more than 10,000 in one call. */
const AT_ONCE = 5000;

/** Machines of these names, half of them in each of two regions. */
export async function makeMachines(cloud: CloudClient, names: readonly string[]): Promise<readonly Instance[]> {
  const specs = names.map((name, index) => ({ name, zone: index % 2 === 0 ? "north-a" : "south-a" }));
  const made: Instance[] = [];
  for (let from = 0; from < specs.length; from += AT_ONCE) {
    made.push(...(await cloud.createInstances(specs.slice(from, from + AT_ONCE), AbortSignal.timeout(CALL_MS))));
  }
  return made;
}

const NODES_A_PAGE = 500;

/** How many Nodes have a taint. */
export async function countTainted(kube: Kube): Promise<number> {
  let tainted = 0;
  let next: unknown = "";
  do {
    const page = await kube.get(`/api/v1/nodes?limit=${NODES_A_PAGE}&continue=${encodeURIComponent(String(next))}`);
    tainted += listOf(page["items"]).filter((node) => listOf(at(node, "spec", "taints")).length > 0).length;
    next = at(page, "metadata", "continue");
  } while (typeof next === "string" && next !== "");
  return tainted;
}
