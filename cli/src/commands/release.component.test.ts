import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClusterFixture, NOBODY } from "../test/cluster-fixture.ts";
import { heldRows } from "../test/samples.ts";

let world: ClusterFixture;

beforeEach(async () => {
  world = await ClusterFixture.start();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("release node-deletion", () => {
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

  test("lists what the brake holds, and releases nothing, where none is named", async () => {
    const ran = await world.run("release node-deletion --pod ccm");
    expect(ran.out).toBe(
      "The brake holds 2 Nodes:\n  worker-1  aws  Its machine is gone.\n  worker-2  aws  Its machine is gone.\n",
    );
    expect([ran.code, annotations()]).toEqual([0, [undefined, undefined, undefined]]);
  });

  test("annotates those that are named, after a yes", async () => {
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return "yes";
    };
    const ran = await world.run("release node-deletion worker-2 --pod ccm", { terminal: { canAsk: true, ask } });
    expect(asked).toEqual([
      `Are the machines of this Node really gone, and may the Nodes be deleted at ${world.api.url}? Type yes: `,
    ]);
    expect([ran.code, ran.out.endsWith("\nreleased worker-2\n"), annotations()]).toEqual([
      0,
      true,
      [undefined, APPROVED, undefined],
    ]);
  });

  test("releases no further Node when it is to end", async () => {
    const stop = new AbortController();
    const onOut = (text: string): void => {
      if (text === "released worker-1\n") stop.abort();
    };
    const ran = await world.run("release node-deletion --all --yes --pod ccm", { signal: stop.signal, onOut });
    expect([ran.code, ran.err, annotations()]).toEqual([
      1,
      "cloudwire: not released any more: worker-2\n",
      [APPROVED, undefined, undefined],
    ]);
  });

  test("annotates all that are held with --all --yes, and no other", async () => {
    const ran = await world.run("release node-deletion --all --yes --pod ccm");
    expect([ran.code, annotations()]).toEqual([0, [APPROVED, APPROVED, undefined]]);
  });

  test.each([
    ["--dry-run", "--all --dry-run", {}, 0, ""],
    [
      "an answer that is not yes",
      "--all",
      { terminal: { canAsk: true, ask: async () => "y" } },
      1,
      "no Node was released",
    ],
    [
      "an input that ends",
      "--all",
      { terminal: { canAsk: true, ask: async () => undefined } },
      1,
      "no Node was released",
    ],
    ["nobody to ask", "--all", {}, 1, "nobody can be asked whether these 2 Nodes may go: --yes says so"],
    ["a Node that is not held", "worker-1 worker-3 --yes", {}, 1, "the brake does not hold worker-3"],
    ["both names and --all", "worker-1 --all --yes", {}, 2, "name Nodes, or --all of them, and not both"],
  ])("releases nothing with %s", async (_what, line, options, code, message) => {
    const ran = await world.run(`release node-deletion ${line} --pod ccm`, options);
    expect([ran.code, ran.err.includes(message), annotations()]).toEqual([
      code,
      true,
      [undefined, undefined, undefined],
    ]);
  });

  test("takes a Node that is gone by then for what was wished", async () => {
    world.controller.pages.set(PATHS.objects, { body: [...heldRows, { ...heldRows[0], object: "node/gone" }] });
    const ran = await world.run("release node-deletion --all --yes --pod ccm");
    expect([ran.code, ran.out.includes("\ngone is gone already\n"), annotations()]).toEqual([
      0,
      true,
      [APPROVED, APPROVED, undefined],
    ]);
  });

  test("tells of each Node that it could not release, and what right it takes", async () => {
    await world.writeKubeconfig({ token: NOBODY.token });
    const ran = await world.run("release node-deletion --all --yes --pod ccm");
    const rule = 'it takes a ClusterRole with the rule {apiGroups: [""], resources: [nodes], verbs: [patch]}';
    expect([ran.code, ran.err.split("\n").filter((line) => line.includes(rule)).length]).toEqual([1, 2]);
  });
});
