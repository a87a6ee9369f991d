import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason } from "../differential/differential.ts";
import { upstream } from "../parity/peers/upstream.ts";
import { ParityWorld } from "../parity/world.ts";
import { eventually } from "../../support/eventually.ts";
import type { Json } from "../../support/kube.ts";
import { fetchPage, freePort } from "../../support/secure-page.ts";
import { type Family, familiesOf } from "./families.ts";

const START_MS = 60 * 60_000;

/** Worlds of the parity suite have smaller ones. */
const POOL_KEY = 9;

/** The reference page compares ours with it. For a new version of upstream, run this test with CLOUDWIRE_WRITE_METRICS=1. */
const RECORDED = new URL("../../../controller/scripts/upstream-metrics.json", import.meta.url);

const reason = await skipReason("metrics of upstream");

describe.skipIf(reason !== undefined)("the recorded metrics of upstream", () => {
  let world: ParityWorld;
  let port: number;

  beforeAll(async () => {
    world = await ParityWorld.start(upstream, POOL_KEY);
    port = await freePort();
    await world.startPrograms({
      both: ["--allocate-node-cidrs", "--cluster-cidr=10.200.0.0/16", "--controllers=*,node-ipam-controller"],
      upstream: [
        `--secure-port=${port}`,
        "--bind-address=127.0.0.1",
        "--authorization-always-allow-paths=/*",
        "--feature-gates=CloudControllerManagerWatchBasedRoutesReconciliation=true",
      ],
      ours: [],
    });
    await world.kube.create("/api/v1/nodes", node("observed-1"));
  }, START_MS);

  afterAll(() => world[Symbol.asyncDispose]());

  test("are what the real binary shows", async () => {
    const recorded: unknown = JSON.parse(await readFile(RECORDED, "utf8"));
    const expected: unknown = sorted(Array.isArray(recorded) ? recorded : []);
    let shown: readonly Family[] = [];
    // Some are there only once something has happened: a health check, a queue's first item.
    const all = eventually("all recorded families to be shown", 60_000, async () => {
      await fetchPage(port, "/healthz");
      const pages = await Promise.all(["/metrics", "/metrics/slis"].map((path) => fetchPage(port, path)));
      const families = pages.flatMap(({ text }) => familiesOf(text)).filter(({ name }) => !name.startsWith("go_"));
      shown = sorted([...new Map(families.map((family) => [family.name, family])).values()]);
      return JSON.stringify(shown) === JSON.stringify(expected) ? true : undefined;
    });
    await all.catch(() => undefined);
    if (process.env["CLOUDWIRE_WRITE_METRICS"] !== undefined) {
      const byName = shown.toSorted((left, right) => left.name.localeCompare(right.name, "en"));
      return writeFile(RECORDED, `${JSON.stringify(byName)}\n`);
    }
    expect(shown).toEqual(expected);
  });
});

function sorted<T>(families: readonly T[]): readonly T[] {
  return families.toSorted((left, right) => JSON.stringify(left).localeCompare(JSON.stringify(right), "en"));
}

function node(name: string): Json {
  const taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec: { taints: [taint] } };
}
