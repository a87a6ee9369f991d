import {
  TOO_MANY_NODE_DELETIONS,
  type ObjectRow,
  type OrphanReport,
  type Overview,
  PATHS,
  type PlanReport,
} from "@cloudwire/operator-api";
import { Type } from "typebox";
import type { Connection } from "../connection.ts";
import { readPage } from "../read-page.ts";
import { cause, list, maybe, number, object, readShape, replica, state, text, truth } from "./schema.ts";

const counts = Type.Object({ ok: number, progressing: number, waiting: number, blocked: number, unmanaged: number });

const controller = Type.Object({
  name: text,
  state: text,
  queued: number,
  processing: number,
  delayed: number,
  failing: number,
});

const budget = Type.Object({
  quotaClass: text,
  cloudCallsPerSecond: maybe(number),
  tokens: maybe(number),
  queuedCalls: number,
  throttledUntilTime: maybe(text),
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
  deletionCircuitBreaker: maybe(Type.Object({ open: truth, absentNodes: number, message: maybe(text) })),
});

const overview = Type.Object({
  time: text,
  cluster: text,
  replica,
  observing: truth,
  counts: Type.Object({ node: counts, service: counts, route: counts, provider: counts }),
  controllers: list(controller),
  providers: list(provider),
  alarms: list(Type.Intersect([cause, Type.Object({ object: maybe(object) })])),
});

export function readOverview(response: unknown): Overview {
  return readShape(overview, response, PATHS.overview);
}

const row = Type.Object({
  object,
  state,
  reason: maybe(text),
  summary: text,
  provider: text,
  creationTime: maybe(text),
});

export function readRows(response: unknown): readonly ObjectRow[] {
  return readShape(list(row), response, PATHS.objects);
}

const orphan = Type.Object({
  provider: text,
  kind: Type.Union([Type.Literal("loadBalancer"), Type.Literal("route")]),
  id: text,
  owner: text,
  message: text,
});

const orphans = Type.Object({
  time: text,
  orphans: list(orphan),
  unreachableProviders: list(Type.Object({ provider: text, message: text })),
});

export function readOrphans(response: unknown): OrphanReport {
  return readShape(orphans, response, PATHS.orphans);
}

const action = Type.Union([Type.Literal("create"), Type.Literal("update"), Type.Literal("delete")]);

const plan = Type.Object({
  controller: text,
  key: text,
  provider: text,
  digest: text,
  startTime: text,
  writes: list(
    Type.Object({
      target: Type.Union([Type.Literal("kubernetes"), Type.Literal("provider")]),
      action,
      summary: text,
    }),
  ),
});

const plans = Type.Object({
  observing: truth,
  complete: truth,
  pending: Type.Object({ create: number, update: number, delete: number }),
  failedKeys: list(Type.Object({ controller: text, key: text, provider: text })),
  plans: list(plan),
});

export function readPlans(response: unknown): PlanReport {
  return readShape(plans, response, PATHS.plans);
}

export interface BlockedNode {
  readonly name: string;
  readonly provider: string;
  /** One sentence: why it is blocked. */
  readonly summary: string;
}

/** The Nodes that the circuit breaker blocks now, by name. */
export async function blockedNodes(connection: Connection): Promise<readonly BlockedNode[]> {
  const rows = readRows(await readPage(connection, PATHS.objects, { kind: "node", search: TOO_MANY_NODE_DELETIONS }));
  return rows
    .filter(({ object, reason }) => reason === TOO_MANY_NODE_DELETIONS && object.startsWith("node/"))
    .map(({ object, provider, summary }) => ({ name: object.slice("node/".length), provider, summary }))
    .toSorted((left, right) => left.name.localeCompare(right.name, "en"));
}
