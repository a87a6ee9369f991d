import { type ObjectRow, STATES } from "@cloudwire/operator-api";
import { type Cluster, createRandom, nodeRow, serviceRow } from "./clusters.ts";
import type { FixtureServer } from "./fixture-server.ts";

const NODES_AT_ONCE = 50;
const SERVICES_AT_ONCE = 10;

/** Answers what makes one second's changes: Nodes and Services that change their state, Nodes that go and come under new names. */
export function createChurn({ rows }: Cluster, server: FixtureServer): () => void {
  const random = createRandom(3);
  const nodes = [...rows.values()].filter(({ object }) => object.startsWith("node/"));
  const services = [...rows.values()].filter(({ object }) => object.startsWith("service/"));
  let round = 0;
  const nextState = (): ObjectRow["state"] => STATES[Math.floor(random() ** 6 * STATES.length)] ?? "ok";
  return () => {
    round += 1;
    const changed: ObjectRow[] = [];
    for (let count = 0; count < NODES_AT_ONCE; count += 1) {
      const index = Math.floor(random() * nodes.length);
      const before = nodes[index];
      if (before === undefined) continue;
      const after = {
        ...before,
        ...nodeRow(before.object.slice("node/".length), nextState()),
        provider: before.provider,
      };
      nodes[index] = after;
      changed.push(after);
    }
    for (let count = 0; count < SERVICES_AT_ONCE; count += 1) {
      const before = services[Math.floor(random() * services.length)];
      if (before !== undefined) changed.push(serviceRow(before.object.slice("service/".length), nextState()));
    }
    const [oldest] = nodes.splice(0, 1);
    const fresh = nodeRow(`worker-${10_000 + round}`, "progressing");
    nodes.push(fresh);
    server.change(
      [...changed.filter(({ object }) => object !== oldest?.object), fresh],
      oldest === undefined ? [] : [oldest.object],
    );
    server.sendOverview();
    server.sendSample();
  };
}
