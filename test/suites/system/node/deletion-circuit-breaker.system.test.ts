import { expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE } from "../support/lease.ts";
import { GROWN, type Harness } from "../support/harness.ts";

const NOTE = "deletions.cloudwire.dev/simulated";
/** The least that the flags take, and a lease that is soon over. */
const ARGS = [
  "--node-monitor-period=1s",
  "--node-deletion-confirmation-period=1s",
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

/** The circuit breaker always lets this many deletions pass in its window, and of so few Nodes not one more. */
const LET_GO = 3;
const names = Array.from({ length: 12 }, (_, index) => `b-${String(index).padStart(2, "0")}`);
const [first, second, third] = [names.slice(0, LET_GO), names.slice(LET_GO, 2 * LET_GO), names.slice(2 * LET_GO, 8)];

const PATIENCE_MS = 90_000;

let harness: Harness;

eachHarness(async (fresh) => {
  harness = fresh;
  await harness.createMachines(names.map((name) => ({ name, zone: "north-a" })));
  // Without kubelets: not Ready, and looked at from then on.
  for (const name of names) await harness.registerNode(name, GROWN);
  await harness.startSidecar();
});

const start = () => harness.startController({ args: ARGS });

const nodeNames = async () => {
  const nodes = await harness.kube.items("/api/v1/nodes");
  return nodes.map((node) => String(at(node, "metadata", "name"))).toSorted();
};

async function terminate(some: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const { items } = await harness.cloud.listInstances({ pageSize: 100, consistent: true }, signal);
  const ids = items.filter(({ name }) => some.includes(name)).map(({ id }) => id);
  expect(ids).toHaveLength(some.length);
  await harness.cloud.terminateInstances(ids, signal);
}

async function reach<T>(what: string, probe: () => Promise<T | undefined>, timeoutMs = PATIENCE_MS): Promise<T> {
  return eventually(what, timeoutMs, probe, () => harness.outputs().slice(-6000));
}

/** Counts how often the circuit breaker kept a Node. */
const holds = (leader: Program) =>
  harness.metric(leader, /^cloudwire_node_deletion_decisions_total\{decision="tooManyNodeDeletions"/);

/** The Nodes stay, each evaluated several times by that leader, for the reason in their events. */
async function held(leader: Program, some: readonly string[]): Promise<void> {
  await reach("the circuit breaker to block each of them several times", async () => {
    expect(await nodeNames()).toEqual(names.slice(LET_GO));
    return (await holds(leader)) >= 4 * some.length ? true : undefined;
  });
  expect(await nodeNames()).toEqual(names.slice(LET_GO));
  for (const name of some) {
    const [message] = await reach(`the reason to be reported on ${name}`, async () => {
      const path = `/api/v1/events?fieldSelector=involvedObject.name=${name},reason=TooManyNodeDeletions`;
      const events = (await harness.kube.items(path)).map((event) => String(event["message"]));
      return events.length > 0 ? events : undefined;
    });
    expect(message).toMatch(/of 12 Nodes as absent, and at most 3 are deleted within 10 minutes/);
  }
  expect(await harness.metric(leader, /^cloudwire_node_deletion_circuit_open\{provider="simulated"/)).toBe(1);
}

test("a leader that comes after one that was killed holds what that one would have held, and so does each after it", async () => {
  const leader = start();
  await Promise.all(names.map((name) => harness.initialized(name, PATIENCE_MS)));
  const standby = start();
  await standby.said(/Waiting for leadership/, PATIENCE_MS);
  expect(at(await harness.kube.get(LEASE), "metadata", "annotations", NOTE)).toBeUndefined();

  await terminate(first);
  await reach("as many Nodes to go as may", async () =>
    (await nodeNames()).length === names.length - LET_GO ? true : undefined,
  );
  await leader.stop("SIGKILL");
  await terminate(second);
  await standby.said(/Became leader/, PATIENCE_MS);
  await held(standby, second);
  const note = JSON.parse(String(at(await harness.kube.get(LEASE), "metadata", "annotations", NOTE)));
  expect(Object.values<number>(note.secondsAgo).reduce((sum, count) => sum + count, 0)).toBe(LET_GO);

  // There is no standby: the new process knows only what is on the Lease.
  await standby.stop("SIGKILL");
  await terminate(third);
  const last = start();
  await last.said(/Became leader/, PATIENCE_MS);
  await held(last, [...second, ...third]);
}, 600_000);
