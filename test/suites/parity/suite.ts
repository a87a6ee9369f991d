import { ours } from "./peers/ours.ts";
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

/** Runs sessions, each on both sides at the same time, and reports each scenario's results as soon as its batch is over. */
export class ParitySuite implements AsyncDisposable {
  readonly #worlds: readonly [ParityWorld, ParityWorld];

  private constructor(worlds: readonly [ParityWorld, ParityWorld]) {
    this.#worlds = worlds;
  }

  /** `attempt` keeps the addresses of several suites at a time apart. */
  static async start(attempt = 0): Promise<ParitySuite> {
    const first = process.pid + 2 * attempt;
    const worlds = await Promise.all([ParityWorld.start(upstream, first), ParityWorld.start(ours, first + 1)]);
    return new ParitySuite(worlds);
  }

  async run(session: Session): Promise<readonly Result[]> {
    const [left, right] = await Promise.all(this.#worlds.map((world) => runSession(world, session)));
    return scenariosOf(session).map((scenario) => ({
      scenario,
      upstream: observationOf(left, scenario),
      ours: observationOf(right, scenario),
    }));
  }

  /** What the programs of both sides wrote, for anyone who looks into a difference. */
  outputs(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#worlds.map((world) => [world.peer, world.output]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world[Symbol.asyncDispose]()));
  }
}

/** Names of Nodes are label values, of at most 63 characters, and have a few of their own. */
const SLUG_CHARS = 54;

/** Nodes that stand ready for every Service of a session. */
const POOL = "pool";

type Observations = ReadonlyMap<string, Observation>;

function observationOf(observations: Observations | undefined, { name }: Scenario): Observation {
  const found = observations?.get(name);
  if (found === undefined) throw new Error(`scenario ${name} was not observed`);
  return found;
}

async function runSession(world: ParityWorld, session: Session): Promise<Observations> {
  const { flags, batches, pool } = session;
  const scenarios = scenariosOf(session);
  const stages = new Map(scenarios.map((scenario) => [scenario.name, stageFor(world, scenario)] as const));
  const stageOf = (scenario: Scenario): Stage => stages.get(scenario.name) ?? stageFor(world, scenario);
  await Promise.all(scenarios.map(async (scenario) => scenario.prepare?.(stageOf(scenario))));
  await world.startPrograms(flags);
  const permanent = new Stage(world, POOL);
  if (pool) await Promise.all(["a", "b"].map((local) => permanent.join(local, {}, { target: true })));
  const observations = new Map<string, Observation>();
  for (const batch of batches) await runBatch(world, batch, { flags, stageOf, observations });
  await permanent.clear();
  await world.stopPrograms();
  return observations;
}

interface Run {
  readonly flags: Session["flags"];
  readonly stageOf: (scenario: Scenario) => Stage;
  readonly observations: Map<string, Observation>;
}

async function runBatch(world: ParityWorld, batch: Batch, { flags, stageOf, observations }: Run): Promise<void> {
  const cast = batch.scenarios.map((scenario) => ({ scenario, stage: stageOf(scenario) }));
  await Promise.all(
    cast.map(async ({ scenario, stage }) => {
      if (scenario.arrange === undefined) return;
      await scenario.arrange(stage);
      await stage.fromHere();
    }),
  );
  if (batch.restart === true) {
    await world.stopPrograms();
    await Promise.all(cast.map(async ({ scenario, stage }) => scenario.away?.(stage)));
    await world.startPrograms(flags);
  }
  await Promise.all(
    cast.map(async ({ scenario, stage }) => {
      await scenario.run(stage);
      await stage.quiet();
      world.requireRunning();
      observations.set(scenario.name, await observe(stage));
    }),
  );
  await Promise.all(cast.map(({ stage }) => stage.clear()));
}

/** Every scenario of a session, in the order in which they run. */
export function scenariosOf({ batches }: Session): readonly Scenario[] {
  return batches.flatMap(({ scenarios }) => scenarios);
}

function stageFor(world: ParityWorld, { name }: Scenario): Stage {
  return new Stage(world, slugOf(name));
}

/** `node: two families` to `node-two-families`: a namespace's name, and the beginning of Nodes' names. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARS)
    .replace(/-$/, "");
}
