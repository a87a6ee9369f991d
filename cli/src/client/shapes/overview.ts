import {
  DELETION_BRAKE,
  type ObjectRow,
  type OrphansPage,
  type Overview,
  PATHS,
  type PlansPage,
} from "@cloudwire/operator-api";
import { Type } from "typebox";
import type { Connection } from "../connection.ts";
import { readPage } from "../read-page.ts";
import { cause, list, maybe, number, object, readShape, replica, state, text, truth } from "./schema.ts";

const counts = Type.Object({ ok: number, working: number, waiting: number, blocked: number, unmanaged: number });

const controller = Type.Object({
  name: text,
  state: text,
  waiting: number,
  working: number,
  delayed: number,
  failing: number,
});

const budget = Type.Object({
  quotaClass: text,
  callsPerSecond: maybe(number),
  tokens: maybe(number),
  waiting: number,
  heldUntil: maybe(text),
});

const provider = Type.Object({
  name: text,
  address: text,
  connection: text,
  ready: truth,
  reasons: list(text),
  version: maybe(text),
  calls: number,
  failedCalls: number,
  inFlight: number,
  budgets: list(budget),
  brake: maybe(Type.Object({ holds: truth, gone: number, message: maybe(text) })),
});

const overview = Type.Object({
  at: text,
  cluster: text,
  replica,
  writes: truth,
  counts: Type.Object({ node: counts, service: counts, route: counts, provider: counts }),
  controllers: list(controller),
  providers: list(provider),
  alarms: list(Type.Intersect([cause, Type.Object({ object: maybe(object) })])),
});

export function readOverview(answer: unknown): Overview {
  return readShape(overview, answer, PATHS.overview);
}

const row = Type.Object({
  object,
  state,
  reason: maybe(text),
  summary: text,
  provider: text,
  created: maybe(text),
});

export function readRows(answer: unknown): readonly ObjectRow[] {
  return readShape(list(row), answer, PATHS.objects);
}

const orphan = Type.Object({
  provider: text,
  kind: Type.Union([Type.Literal("loadBalancer"), Type.Literal("route")]),
  id: text,
  owner: text,
  message: text,
});

const orphans = Type.Object({
  at: text,
  orphans: list(orphan),
  unknown: list(Type.Object({ provider: text, message: text })),
});

export function readOrphans(answer: unknown): OrphansPage {
  return readShape(orphans, answer, PATHS.orphans);
}

const effect = Type.Union([Type.Literal("addition"), Type.Literal("change"), Type.Literal("removal")]);

const plan = Type.Object({
  controller: text,
  key: text,
  provider: text,
  digest: text,
  since: text,
  writes: list(
    Type.Object({
      target: Type.Union([Type.Literal("kubernetes"), Type.Literal("provider")]),
      effect,
      summary: text,
    }),
  ),
});

const plans = Type.Object({
  observes: truth,
  settled: truth,
  pending: Type.Object({ addition: number, change: number, removal: number }),
  undecided: list(Type.Object({ controller: text, key: text, provider: text })),
  plans: list(plan),
});

export function readPlans(answer: unknown): PlansPage {
  return readShape(plans, answer, PATHS.plans);
}

export interface HeldNode {
  readonly name: string;
  readonly provider: string;
  /** One sentence: why it is held. */
  readonly summary: string;
}

/** The Nodes that the brake holds at this moment, by name. */
export async function heldNodes(connection: Connection): Promise<readonly HeldNode[]> {
  const rows = readRows(await readPage(connection, PATHS.objects, { kind: "node", search: DELETION_BRAKE }));
  return rows
    .filter(({ object, reason }) => reason === DELETION_BRAKE && object.startsWith("node/"))
    .map(({ object, provider, summary }) => ({ name: object.slice("node/".length), provider, summary }))
    .toSorted((left, right) => left.name.localeCompare(right.name, "en"));
}
