import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { providerProgram } from "../reference/program.ts";
import { serveReference } from "../reference/provider.ts";
import { isAlive, kit, temporaryDirectory } from "../test/kit-process.ts";

let reference: Awaited<ReturnType<typeof serveReference>>;
beforeAll(async () => {
  reference = await serveReference();
});
afterAll(() => reference.close());

describe("cloudwire-conformance", () => {
  test("run passes a correct provider that runs already", async () => {
    const { code, out } = await kit("run", "--profile", "core", "--endpoint", reference.endpoint).ended;
    expect(out).toMatch(/^core: conformant, \d+ passed\n/);
    expect(code).toBe(0);
  });

  test("run starts a provider, tests it, and ends it and all it started", async () => {
    const directory = await temporaryDirectory();
    const pidFile = join(directory, "pid");
    const extra = `const child = spawn("sleep", ["600"], { stdio: "ignore" }); writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));`;
    const { command, remove } = await providerProgram(extra);
    onTestFinished(remove);
    const report = join(directory, "report");
    const { code, out } = await kit("run", "--run", "info.*", "--report", report, "--", ...command).ended;
    expect(out).toContain("core: partial");
    expect(code).toBe(0);
    expect((await readdir(report)).toSorted()).toEqual(
      ["html", "json", "md", "tap", "txt", "xml"].map((extension) => `conformance.${extension}`),
    );
    expect(isAlive(Number(await readFile(pidFile, "utf8")))).toBe(false);
  });

  test("run says at once that a provider has ended, and what it said last", async () => {
    const { code, err } = await kit("run", "--", "sh", "-c", "echo no credentials >&2; exit 78").ended;
    expect(err).toBe(
      "the provider's last lines:\nno credentials\ncloudwire-conformance: the provider ended with code 78\n",
    );
    expect(code).toBe(3);
  });

  test.each<[readonly string[], RegExp, number]>([
    [[], /what to do\?/, 2],
    [["frobnicate"], /there is no command frobnicate/, 2],
    [["run"], /give either --endpoint/, 2],
    [["run", "--endpoint", "provider.sock"], /neither unix:\/\/\/absolute\/path\.sock nor tcp/, 2],
    [["report"], /what about reports\?/, 2],
    [["report", "verify"], /report verify which\?/, 2],
    [["report", "verify", "/nowhere.json"], /the report \/nowhere\.json cannot be read: ENOENT/, 2],
    [["explain", "no.such.check"], /there is no check "no\.such\.check"/, 2],
    [["run", "--endpoint", "unix:///nowhere.sock", "--start-timeout", "0.1"], /no provider is ready at/, 3],
    [["run", "--", "/no/such/program"], /\/no\/such\/program could not be started/, 2],
  ])("says in one line what is wrong with %j", async (args, wanted, exitCode) => {
    const { code, err } = await kit(...args).ended;
    expect(err).toMatch(wanted);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(code).toBe(exitCode);
  });

  test("init writes a configuration once, and run takes it as it is", async () => {
    const file = join(await temporaryDirectory(), "conformance.yaml");
    const args = ["init", "--output", file, "--endpoint", reference.endpoint];
    expect(await kit(...args).ended).toEqual({ code: 0, out: "", err: "" });
    expect(await readFile(file, "utf8")).toContain("#  providerId: acme://…\n");
    const { code, err } = await kit(...args).ended;
    expect(err).toMatch(/^cloudwire-conformance: .*conformance\.yaml cannot be written: EEXIST.*\n$/);
    expect(code).toBe(2);
    const ran = await kit("run", "--config", file, "--run", "info.fields.*", "--endpoint", reference.endpoint).ended;
    expect(ran).toMatchObject({ code: 0, err: "" });
  });

  test("selftest shows that checks find what is put into a provider", async () => {
    const { code, out } = await kit("selftest", "--run", "health.unknown", "--endpoint", reference.endpoint).ended;
    expect(out).toMatch(/^FOUND {6}[a-z-]+ {2}.*\n {2}must and did fail {2}health\./m);
    expect(out).toMatch(/\nselftest: (\d+) faults, \1 found, 0 otherwise than they have to be\n$/);
    expect(code).toBe(0);
  });

  test("report takes what run wrote, and nothing that was changed since", async () => {
    const directory = await temporaryDirectory();
    const args = ["run", "--run", "health.*", "--report", directory, "--endpoint", reference.endpoint];
    expect((await kit(...args).ended).code).toBe(0);
    const file = join(directory, "conformance.json");
    expect(await kit("report", "verify", file).ended).toEqual({
      code: 0,
      out: expect.stringMatching(/conformance\.json: partial \d\/\d · contract 1\.0 · kit /),
      err: "",
    });
    const merged = await kit("report", "merge", file, file, "--format", "html").ended;
    expect(merged.out).toContain("<title>Conformance of acme.example.com 1.0.0</title>");
    const badge = join(directory, "badge.svg");
    expect((await kit("report", "badge", file, "--output", badge).ended).code).toBe(0);
    expect(await readFile(badge, "utf8")).toContain("<svg ");
    await writeFile(file, (await readFile(file, "utf8")).replaceAll('"partial"', '"conformant"'));
    const changed = await kit("report", "verify", file).ended;
    expect(changed.out).toContain("and the results add up to core partial");
    expect(changed.code).toBe(1);
  });

  test("list, explain and inspect print what there is", async () => {
    expect((await kit("list", "--run", "health.*").ended).out).toMatch(/\n\n\d+ checks\n$/);
    expect((await kit("explain", "err.field.path").ended).out).toContain("(proto/README.md)\n  ERR-5  ");
    expect((await kit("inspect", "--endpoint", reference.endpoint).ended).out).toContain(
      "name      acme.example.com 1.0.0",
    );
  });
});
