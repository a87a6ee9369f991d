import { ours } from "./peers/ours.ts";
import type { PeerFlags } from "./peers/peer.ts";
import { upstream } from "./peers/upstream.ts";
import { observe, type Observation } from "./observe.ts";
import type { Batch, Scenario, Session } from "./scenario.ts";
import { Stage } from "./stage.ts";
import { ParityWorld } from "./world.ts";

/** What both sides did in one scenario. */
export interface Result {
  readonly scenario: Scenario;
  readonly upstream: Observation;
  readonly ours: Observation;
}

/** Runs sessions, each on both sides at the same time, and tells each scenario's results as soon as its batch is over. */
export class ParitySuite implements AsyncDisposable {
  readonly #worlds: readonly [ParityWorld, ParityWorld];

  private constructor(worlds: readonly [ParityWorld, ParityWorld]) {
    this.#worlds = worlds;
  }

  static async start(): Promise<ParitySuite> {
    const worlds = await Promise.all([
      ParityWorld.start(upstream, process.pid),
      ParityWorld.start(ours, process.pid + 1),
    ]);
    return new ParitySuite(worlds);
  }

  async run(session: Session): Promise<readonly Result[]> {
    const [left, right] = await Promise.all(this.#worlds.map((world) => runSession(world, session)));
    return session.batches.flat().map((scenario) => ({
      scenario,
      upstream: observationOf(left, scenario),
      ours: observationOf(right, scenario),
    }));
  }

  /** What the programs of both sides wrote, for whoever looks into a difference. */
  outputs(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#worlds.map((world) => [world.peer, world.output]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world[Symbol.asyncDispose]()));
  }
}

/** Nodes that stand ready for every Service of a session. */
const POOL = "pool";

type Observations = ReadonlyMap<string, Observation>;

function observationOf(observations: Observations | undefined, { name }: Scenario): Observation {
  const found = observations?.get(name);
  if (found === undefined) throw new Error(`scenario ${name} was not observed`);
  return found;
}

async function runSession(world: ParityWorld, { flags, batches, pool }: Session): Promise<Observations> {
  const stages = new Map(batches.flat().map((scenario) => [scenario.name, stageFor(world, scenario, flags)] as const));
  const stageOf = (scenario: Scenario): Stage => stages.get(scenario.name) ?? stageFor(world, scenario, flags);
  await Promise.all(batches.flat().map(async (scenario) => scenario.prepare?.(stageOf(scenario))));
  await world.startPrograms(flags);
  const standing = new Stage(world, POOL, flags);
  if (pool) await Promise.all(["a", "b"].map((local) => standing.join(local, {}, { target: true })));
  const observations = new Map<string, Observation>();
  for (const batch of batches) await runBatch(batch, stageOf, observations);
  await standing.clear();
  await world.stopPrograms();
  return observations;
}

async function runBatch(
  batch: Batch,
  stageOf: (scenario: Scenario) => Stage,
  observations: Map<string, Observation>,
): Promise<void> {
  const stages = batch.map(stageOf);
  await Promise.all(
    batch.map(async (scenario) => {
      const stage = stageOf(scenario);
      await scenario.run(stage);
      await stage.quiet();
      stage.world.requireRunning();
      observations.set(scenario.name, await observe(stage));
    }),
  );
  await Promise.all(stages.map((stage) => stage.clear()));
}

/** `node: two families` to `node-two-families`. */
function stageFor(world: ParityWorld, { name }: Scenario, flags: PeerFlags): Stage {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/-$/, "");
  return new Stage(world, slug, flags);
}
