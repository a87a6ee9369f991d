import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClusterFixture, UNPRIVILEGED } from "../test/cluster-fixture.ts";
import { heldRows } from "../test/samples.ts";

let world: ClusterFixture;

beforeEach(async () => {
  world = await ClusterFixture.start();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("approve node-deletion", () => {
  const annotations = () =>
    ["worker-1", "worker-2", "worker-3"].map(
      (name) => Object(world.cluster.read("v1", "Node", "", name)?.["metadata"]).annotations,
    );
  const APPROVED = { "cloudwire.dev/approve-deletion": "true" };

  beforeEach(() => {
    world.forward("kube-system/ccm");
    for (const name of ["worker-1", "worker-2", "worker-3"])
      world.cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name } });
  });

  test("lists the blocked Nodes and approves nothing without names", async () => {
    const ran = await world.run("approve node-deletion --pod ccm");
    expect(ran.out).toBe(
      "Deletion of 2 Nodes is blocked by the circuit breaker:\n  worker-1  aws  Its instance is deleted.\n  worker-2  aws  Its instance is deleted.\n",
    );
    expect([ran.code, annotations()]).toEqual([0, [undefined, undefined, undefined]]);
  });

  test("annotates the named Nodes after confirmation", async () => {
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return "yes";
    };
    const ran = await world.run("approve node-deletion worker-2 --pod ccm", { terminal: { canAsk: true, ask } });
    expect(asked).toEqual([
      `Are the instances of this Node deleted in the cloud, and should the Nodes be deleted from ${world.api.url}? Type yes: `,
    ]);
    expect([ran.code, ran.out.endsWith("\napproved worker-2\n"), annotations()]).toEqual([
      0,
      true,
      [undefined, APPROVED, undefined],
    ]);
  });

  test("approves no further Node after an interrupt", async () => {
    const stop = new AbortController();
    const onOut = (text: string): void => {
      if (text === "approved worker-1\n") stop.abort();
    };
    const ran = await world.run("approve node-deletion --all --yes --pod ccm", { signal: stop.signal, onOut });
    expect([ran.code, ran.err, annotations()]).toEqual([
      1,
      "cloudwire: interrupted; not approved: worker-2\n",
      [APPROVED, undefined, undefined],
    ]);
  });

  test("annotates all blocked Nodes with --all --yes, and no others", async () => {
    const ran = await world.run("approve node-deletion --all --yes --pod ccm");
    expect([ran.code, annotations()]).toEqual([0, [APPROVED, APPROVED, undefined]]);
  });

  test.each([
    ["--dry-run", "--all --dry-run", {}, 0, ""],
    [
      "an answer that is not yes",
      "--all",
      { terminal: { canAsk: true, ask: async () => "y" } },
      1,
      "no deletion was approved",
    ],
    [
      "an input that ends",
      "--all",
      { terminal: { canAsk: true, ask: async () => undefined } },
      1,
      "no deletion was approved",
    ],
    ["no terminal", "--all", {}, 1, "cannot ask for confirmation without a terminal; pass --yes"],
    [
      "a Node that is not blocked",
      "worker-1 worker-3 --yes",
      {},
      1,
      "worker-3 is not blocked by the circuit breaker; nothing to approve",
    ],
    ["both names and --all", "worker-1 --all --yes", {}, 2, "specify node names or --all, not both"],
  ])("approves nothing with %s", async (_what, line, options, code, message) => {
    const ran = await world.run(`approve node-deletion ${line} --pod ccm`, options);
    expect([ran.code, ran.err.includes(message), annotations()]).toEqual([
      code,
      true,
      [undefined, undefined, undefined],
    ]);
  });

  test("accepts a Node that no longer exists", async () => {
    world.controller.pages.set(PATHS.objects, { body: [...heldRows, { ...heldRows[0], object: "node/gone" }] });
    const ran = await world.run("approve node-deletion --all --yes --pod ccm");
    expect([ran.code, ran.out.includes("\ngone no longer exists\n"), annotations()]).toEqual([
      0,
      true,
      [APPROVED, APPROVED, undefined],
    ]);
  });

  test("reports each Node that it could not approve, with the missing permission", async () => {
    await world.writeKubeconfig({ token: UNPRIVILEGED.token });
    const ran = await world.run("approve node-deletion --all --yes --pod ccm");
    const rule = 'you need a ClusterRole with the rule {apiGroups: [""], resources: [nodes], verbs: [patch]}';
    expect([ran.code, ran.err.split("\n").filter((line) => line.includes(rule)).length]).toEqual([1, 2]);
  });
});
