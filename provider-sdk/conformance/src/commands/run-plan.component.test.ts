import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { serveReference } from "../reference/provider.ts";
import { program } from "../cli/program.ts";

let reference: Awaited<ReturnType<typeof serveReference>>;
beforeAll(async () => {
  reference = await serveReference();
});
afterAll(() => reference.close());

const temporaryFile = async (name: string, text: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-plan-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
};

const kit = async (...args: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await program([...args, "--endpoint", reference.endpoint], {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    terminal: false,
    random: () => 0.5,
    signal: new AbortController().signal,
  });
  return { code, out: out.join(""), err: err.join("") };
};

const one = ["run", "--level", "M", "--run", "lb.recreate"];

describe("run", () => {
  test("prints with --plan what it would create, and creates nothing", async () => {
    const config = await temporaryFile("c.yaml", "limits: {maxResources: 3, maxCostNote: a cent}\n");
    const { code, out } = await kit(...one, "--plan", "--config", config);
    expect(out).toMatch(
      /^provider {2}acme\.example\.com 1\.0\.0\nruns {6}1 of \d+ checks\nmakes {5}.*load balancer.*\n/,
    );
    expect(out).toContain("\nlimit     3 at once\ncost      a cent\ncloud     may be a real one\n");
    expect(code).toBe(0);
  });

  test("creates nothing without confirmation", async () => {
    const { code, out, err } = await kit(...one);
    expect(err).toMatch(/\nmakes {5}.*\n[^]*nothing was done yet; pass --yes to run it\./);
    expect(out).toBe("");
    expect(code).toBe(2);
  });

  test.each([
    ["--yes confirms it", ["--yes"], ""],
    ["the cloud is one for tests", [], "testCloud: http://127.0.0.1:1\n"],
  ])("makes what it has to where %s", async (_what, args, text) => {
    const config = await temporaryFile("c.yaml", text);
    expect(await kit(...one, ...args, "--config", config)).toMatchObject({ code: 0, err: "" });
  });

  test("makes nothing beyond the limit, and says so", async () => {
    const config = await temporaryFile("c.yaml", "limits: {maxResources: 1}\n");
    const file = await temporaryFile("r.json", "");
    const run = ["run", "--level", "M", "--yes", "--run", "lb.cluster.isolated", "--run", "lb.recreate"];
    expect((await kit(...run, "--config", config, "--format", "json", "--output", file)).code).toBe(0);
    const { results }: { results: { id: string; result: object }[] } = JSON.parse(await readFile(file, "utf8"));
    const outcomes = Object.fromEntries(results.map(({ id, result }) => [id, result]));
    expect(outcomes).toMatchObject({
      "lb.recreate": { kind: "pass" },
      "lb.cluster.isolated": {
        kind: "skip",
        reason: "limit",
        detail: "needs 2 resources in the cloud at once, and limits.maxResources is 1",
      },
    });
  });

  test("writes ids into reports only on request", async () => {
    const config = await temporaryFile(
      "c.yaml",
      "instance: {providerId: acme://m-1, nodeName: node-1, zone: elsewhere}\n",
    );
    const run = ["run", "--run", "inst.get.expected", "--config", config];
    const shown = await kit(...run);
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining('"providerId":"acme://m-1"') });
    expect(shown.out).toContain('"scopeId":"account-1"');
    const written = await kit(...run, "--format", "json");
    expect(written).toMatchObject({ code: 1, out: expect.stringContaining('"providerId": "<instance.providerId>"') });
    expect(written.out).not.toMatch(/acme:\/\/m-1|account-1|node-1/);
    expect((await kit(...run, "--format", "json", "--include-ids")).out).toContain('"scopeId": "account-1"');
  });

  test("takes patterns from files", async () => {
    const known = await temporaryFile("known.txt", "health.*  # none of them fails\n");
    const { code, out } = await kit("run", "--run", `@${known}`, "--known-failing", `@${known}`);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL health\.unknown .*\n {2}passes, but is listed as known to fail/m);
  });
});

test("list --why prints for each check whether it would run, and why not", async () => {
  const { code, out } = await kit("list", "--why", "--level", "R", "--skip", "err.**");
  expect(code).toBe(0);
  expect(out).toMatch(/^info\.fast +S +core +\S.* runs$/m);
  expect(out).toMatch(/^err\.info\.present +S +core +\S.* user: skipped by the user$/m);
  expect(out).toMatch(/^lb\.recreate +M +loadbalancer +\S.* level: requires level M$/m);
  expect(out).toMatch(/^inst\.get\.by-id +R +instances +\S.* fixture: the configuration has no instance$/m);
  expect(out).toMatch(/\n\d+ of \d+ checks would run\n$/);
});
