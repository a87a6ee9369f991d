import { ours } from "./peers/ours.ts";
import { upstream } from "./peers/upstream.ts";
import { type Play, runBatch } from "./batch.ts";
import { observe, type Observation } from "./observe.ts";
import type { Scenario, Session } from "./scenario.ts";
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
  const plays = new Map(scenariosOf(session).map((scenario) => [scenario, playOf(world, scenario)] as const));
  await Promise.allSettled([...plays.values()].map(({ prepared }) => prepared));
  await world.startPrograms(flags);
  const permanent = new Stage(world, POOL);
  if (pool) await Promise.all(["a", "b"].map((local) => permanent.join(local, {}, { target: true })));
  const observations = new Map<string, Observation>();
  for (const { scenarios, restart } of batches) {
    const cast = scenarios.flatMap((scenario) => plays.get(scenario) ?? []);
    const observed = await runBatch(cast, restart && ((away) => restartPrograms(world, flags, away)));
    for (const [name, observation] of observed) observations.set(name, observation);
  }
  await permanent.clear();
  await world.stopPrograms();
  return observations;
}

async function restartPrograms(world: ParityWorld, flags: Session["flags"], away: () => Promise<void>): Promise<void> {
  await world.stopPrograms();
  await away();
  await world.startPrograms(flags);
}

/** Prepares a scenario immediately; what fails then is a failure of its `arrange`. */
function playOf(world: ParityWorld, scenario: Scenario): Play & { readonly prepared: Promise<void> } {
  const stage = new Stage(world, slugOf(scenario.name));
  const prepared = scenario.prepare?.(stage) ?? Promise.resolve();
  return {
    name: scenario.name,
    prepared,
    arrange: async () => {
      await prepared;
      if (scenario.arrange === undefined) return;
      await scenario.arrange(stage);
      await stage.fromHere();
    },
    away: async () => scenario.away?.(stage),
    run: async () => {
      await scenario.run(stage);
      await stage.quiet();
      world.requireRunning();
    },
    observe: () => observe(stage),
    clear: () => stage.clear(),
  };
}

/** Every scenario of a session, in the order in which they run. */
export function scenariosOf({ batches }: Session): readonly Scenario[] {
  return batches.flatMap(({ scenarios }) => scenarios);
}

/** `node: two families` to `node-two-families`: a namespace's name, and the beginning of Nodes' names. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARS)
    .replace(/-$/, "");
}
