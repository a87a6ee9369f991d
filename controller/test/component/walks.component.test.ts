import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type CallCounts, WalkedProgram } from "../support/walked-program.ts";
import { filesOf, firstSentence, listedStops, type Walk, WALKS, WALKS_PAGE, withStops } from "../support/walks.ts";

const ROOT = new URL("../../../", import.meta.url);
const PAGE = new URL(WALKS_PAGE, ROOT);

/** Rewrites the lists before they are compared. */
const WRITES = process.env["CLOUDWIRE_WRITE_WALKS"] === "1";

/** One after the other, so that what is done for each of them stands out from what is done now and then. */
const OBJECTS = [1, 2, 3] as const;
const IDLE_WINDOWS = 3;
const PORT = 18_080;

test("the architecture page lists the files on the way of a Node, of a Service, and of the deletion guard", async () => {
  const calls = await walk();
  let page = readFileSync(PAGE, "utf8");
  if (WRITES) {
    const about = (file: string): string =>
      firstSentence(readFileSync(new URL(`controller/src/${file}`, ROOT), "utf8"));
    for (const name of WALKS) page = withStops(page, name, calls[name], about);
    writeFileSync(PAGE, page);
  }
  const listed = (name: Walk): readonly string[] =>
    listedStops(page, name)
      .map(({ file }) => file)
      .toSorted();
  expect({ node: listed("node"), service: listed("service"), guard: listed("guard") }).toEqual(calls);
}, 180_000);

/** Files that run for objects, by walk. */
async function walk(): Promise<Readonly<Record<Walk, readonly string[]>>> {
  await using program = await WalkedProgram.start([
    "--node-monitor-period=1s",
    "--node-deletion-confirmation-period=1s",
  ]);
  await program.cloud.createInstances([0, ...OBJECTS].map((n) => `node-${n}`));
  for (const n of OBJECTS) seedLostNode(program, n);
  // What is only done for the first of them is not for each.
  await initialize(program, "node-0");
  await expose(program, "service-0", PORT);

  const idle: CallCounts[] = [];
  for (let window = 0; window < IDLE_WINDOWS; window += 1) idle.push(await program.callsOf(() => program.quiet()));
  const each = (act: (n: number) => Promise<void>): Promise<CallCounts> =>
    program.callsOf(async () => {
      for (const n of OBJECTS) await act(n);
    });
  const node = await each((n) => initialize(program, `node-${n}`));
  const service = await each((n) => expose(program, `service-${n}`, PORT + n));
  const guard = await each((n) => lose(program, `lost-${n}`));
  const files = (name: Walk, counts: CallCounts) => filesOf(name, counts, idle, OBJECTS.length);
  return { node: files("node", node), service: files("service", service), guard: files("guard", guard) };
}

async function initialize(program: WalkedProgram, name: string): Promise<void> {
  const taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  await program.send("POST", "nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { taints: [taint] },
    status: { addresses: [{ type: "Hostname", address: name }], conditions: [{ type: "Ready", status: "True" }] },
  });
  await program.recorded(name, "Synced");
}

async function expose(program: WalkedProgram, name: string, port: number): Promise<void> {
  await program.send("POST", "namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port, protocol: "TCP" }] },
  });
  await program.recorded(name, "EnsuredLoadBalancer");
}

/** A Node old enough to be deleted, of a machine that the cloud does not have. */
function seedLostNode({ cluster }: WalkedProgram, n: number): void {
  cluster.seed({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `lost-${n}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      // No load balancer waits for an instance that the cloud does not have.
      labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" },
    },
    spec: { providerID: `sim://north-a/i-${n.toString(16).padStart(12, "0")}` },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
}

async function lose(program: WalkedProgram, name: string): Promise<void> {
  await program.send("PATCH", `nodes/${name}/status`, {
    status: { conditions: [{ type: "Ready", status: "Unknown" }] },
  });
  await program.gone(name);
}
