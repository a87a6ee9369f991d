import type { Json, Kube } from "@cloudwire/test";
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
