import type { Agenda } from "./agenda.ts";
import type { Fleet } from "./fleet.ts";
import type { DesiredServices } from "./desired-services.ts";
import type { Site } from "./site.ts";

export interface ChurnSizes {
  readonly nodes: number;
  readonly services: number;
  readonly durationMs: number;
}

export interface ChurnParts {
  readonly site: Site;
  readonly fleet: Fleet;
  readonly services: DesiredServices;
  readonly agenda: Agenda;
  readonly random: () => number;
}

/** A kubelet whose node has not changed writes its status so often. */
const HEARTBEAT_MS = 300_000;
const SECOND_MS = 1000;
const NODE_MS = 2500;
const SERVICE_MS = 3000;
const CUT_MS = 20_000;
const FAULT_MS = 45_000;
const SIDECAR_MS = 90_000;

/** Machines that go by themselves within 10 minutes, of all: the deletion guard stops at 10 %. */
const TERMINATED_SHARE = 0.04;
const GUARD_MS = 600_000;

/** Shorter runs have no time for a restart of the API server. */
const API_RESTART_FROM_MS = 300_000;

/** Puts into the agenda all that a cluster does to its cloud controller, at a moderate pace. */
export function planChurn(parts: ChurnParts, { nodes, services, durationMs }: ChurnSizes): void {
  const { agenda, site, fleet } = parts;
  agenda.every(SECOND_MS, () => fleet.heartbeat(Math.ceil((nodes * SECOND_MS) / HEARTBEAT_MS)));
  agenda.every(NODE_MS, () => churnNodes(parts, nodes));
  // In a short run, too.
  agenda.once(SECOND_MS, () => fleet.terminate());
  agenda.every(Math.max(NODE_MS, GUARD_MS / (TERMINATED_SHARE * nodes)), () => fleet.terminate());
  agenda.every(SERVICE_MS, () => churnServices(parts, services));
  agenda.every(CUT_MS, async () => (parts.random() < 0.6 ? site.cutApiConnections() : site.cutProviderConnection()));
  agenda.every(FAULT_MS, () => disturbCloud(parts));
  // In the first half only: the check of a sidecar's memory needs a long life.
  for (let atMs = Math.min(SIDECAR_MS, durationMs / 4); atMs < durationMs / 2; atMs += SIDECAR_MS) {
    agenda.once(atMs, () => site.restartSidecar(parts.random() < 0.5 ? "SIGTERM" : "SIGKILL"));
  }
  if (durationMs < API_RESTART_FROM_MS) return;
  for (const part of [0.2, 0.45, 0.7]) agenda.once(part * durationMs, () => site.restartApiServer());
}

async function churnNodes({ fleet, agenda, random }: ChurnParts, size: number): Promise<void> {
  const way = random();
  if (fleet.size < size) await fleet.join(1 + Math.floor(random() * 3));
  else if (way < 0.3) await fleet.leave();
  else if (way < 0.8) agenda.once(2000 + random() * 15_000, await fleet.silence());
  else agenda.once(10_000 + random() * 20_000, await fleet.stop());
}

async function churnServices({ services, random }: ChurnParts, size: number): Promise<void> {
  const way = random();
  if (services.wanted.length < size) await services.create();
  else if (way < 0.3) await services.delete();
  else if (way < 0.7) await services.changePort();
  else await services.changeType();
}

/** Some calls fail: what is left behind by errors is found by errors only. */
async function disturbCloud({ site, random }: ChurnParts): Promise<void> {
  const kind = random() < 0.5 ? "unavailable" : "rateLimited";
  // Only what the soak itself does not ask for.
  const operation = random() < 0.5 ? "instances.lookup" : "loadBalancers.*";
  await site.admin.addFault({ kind, operation, count: 3, durationMs: 10_000, retryAfterSeconds: 1 });
}
