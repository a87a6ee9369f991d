import type { CloudClient, Instance } from "@cloudwire/provider-simulated";

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
