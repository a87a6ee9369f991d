import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { methods } from "../contract/methods.ts";
import { serveReference } from "../reference/provider.ts";
import { isCall, okReply, requestOf } from "../selftest/mutant.ts";
import { type Intercept, startMutantProxy } from "../selftest/mutant-proxy.ts";
import { isAlive, kit, temporaryDirectory } from "../test/kit-process.ts";

const patience = { timeout: 60_000 };

let reference: Awaited<ReturnType<typeof serveReference>>;
beforeAll(async () => {
  reference = await serveReference();
});
afterAll(() => reference.close());

/** A command that leaves the numbers of its process and of one that it started in a file, and hears no polite request to end. */
const stubborn = (file: string): readonly string[] => [
  "sh",
  "-c",
  `trap "" TERM INT HUP; sleep 600 & echo $$ $! > ${file}; wait`,
];

const pidsIn = async (file: string): Promise<readonly number[]> => {
  await expect.poll(() => readFile(file, "utf8").catch(() => ""), patience).toMatch(/\d+ \d+\n/);
  return (await readFile(file, "utf8")).trim().split(" ").map(Number);
};

describe("a provider behind --", () => {
  test.each<[NodeJS.Signals, number]>([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ])("ends with the kit on %s, with exit code %i", async (signal, exitCode) => {
    const file = join(await temporaryDirectory(), "pid");
    const { child, ended } = kit("run", "--start-timeout", "600", "--", "sh", "-c", `echo $$ $$ > ${file}; sleep 600`);
    const [pid = 0] = await pidsIn(file);
    child.kill(signal);
    expect(await ended).toEqual({
      code: exitCode,
      out: "",
      err: `cloudwire-conformance: stopped by ${signal}; a second time ends at once\n`,
    });
    expect(isAlive(pid)).toBe(false);
  });

  test("ends with all that it started when the kit is killed, though it does not want to", async () => {
    const file = join(await temporaryDirectory(), "pid");
    const { child } = kit("run", "--start-timeout", "600", "--", ...stubborn(file));
    const pids = await pidsIn(file);
    expect(pids.map(isAlive)).toEqual([true, true]);
    child.kill("SIGKILL");
    await expect.poll(() => pids.map(isAlive), patience).toEqual([false, false]);
  });
});

/** A provider whose Ensures take a while, and what was ensured and deleted at it. */
const slowProvider = async (remove: Intercept = (request, next) => next(request)) => {
  const directory = await temporaryDirectory();
  const [ensured, deleted] = [new Set<string>(), new Set<string>()];
  const proxy = await startMutantProxy({ kind: "unix", path: reference.path }, join(directory, "provider.sock"), {
    intercept: async (request, next) => {
      const wanted = requestOf(request, methods.ensureLoadBalancer);
      if (wanted !== undefined && wanted.change?.validateOnly !== true) {
        ensured.add(wanted.service?.uid ?? "");
        await wait(200);
      }
      const unwanted = requestOf(request, methods.deleteLoadBalancer);
      if (unwanted === undefined) return next(request);
      deleted.add(unwanted.service?.uid ?? "");
      return remove(request, next);
    },
  });
  onTestFinished(proxy.close);
  const report = join(directory, "report");
  const run = ["run", "--yes", "--level", "M", "--run", "info.fields.*", "--run", "lb.ensure.*", "--report", report];
  return { ensured, deleted, report, run: [...run, "--endpoint", `unix://${join(directory, "provider.sock")}`] };
};

/** Nothing that was made is ever gone. */
const keeps: Intercept = async (request, next) => {
  const { name, responseType } = methods.deleteLoadBalancer;
  const left = responseType.fromPartial({ done: false, remaining: ["an address"] });
  return isCall(request, name) ? okReply(responseType.encode(left).finish()) : next(request);
};

/** No deletion is ever answered. */
const silent: Intercept = (request, next) =>
  isCall(request, methods.deleteLoadBalancer.name) ? new Promise(() => undefined) : next(request);

/** Far below what a call may take, and far above what the limit of the cleanup is. */
const soonMs = 30_000;

describe("a run that is stopped", () => {
  test("removes what it has made, and reports what it has found", async () => {
    const { ensured, deleted, report, run } = await slowProvider();
    const { child, ended } = kit(...run);
    await expect.poll(() => ensured.size, patience).toBeGreaterThan(1);
    child.kill("SIGINT");
    const { code, out, err } = await ended;
    expect(err).toMatch(/^cloudwire-conformance: stopped by SIGINT; what was made is removed first, .*\n$/);
    expect(out).toMatch(/^core: partial, 1 passed/);
    expect(out).toMatch(/\d+ skipped: the run was stopped\n/);
    expect(code).toBe(130);
    expect(deleted).toEqual(ensured);
    expect(await readdir(report)).toContain("conformance.json");
    expect(await readdir(report)).not.toContain("resources.jsonl");
  });

  test.each([
    ["is never done", keeps, "an address"],
    ["is never answered", silent, "the kit cancelled the call"],
  ])(
    "names what it could not remove as the deletion %s, with exit code 4, when its time for that is up",
    async (_what, remove, why) => {
      const { ensured, run, report } = await slowProvider(remove);
      const { child, ended } = kit(...run, "--cleanup-timeout", "2");
      await expect.poll(() => ensured.size, patience).toBeGreaterThan(0);
      child.kill("SIGTERM");
      const killedMs = performance.now();
      const { code, err } = await ended;
      expect(performance.now() - killedMs).toBeLessThan(soonMs);
      const [uid = ""] = ensured;
      expect(err).toMatch(new RegExp(`still in the cloud:\n(?: .*\n)* {2}load balancer of Service ${uid} .*${why}`));
      expect(err).toContain(`cloudwire-conformance cleanup ${join(report, "resources.jsonl")}`);
      expect(code).toBe(4);
    },
  );

  test("ends at once when it is asked again, and says how to clean up", async () => {
    const { ensured, run, report } = await slowProvider(keeps);
    const { child, ended, said } = kit(...run);
    await expect.poll(() => ensured.size, patience).toBeGreaterThan(0);
    child.kill("SIGINT");
    await expect.poll(said, patience).toContain("stopped by SIGINT");
    // A wrapper that passes the terminal's signal on: the same request.
    child.kill("SIGINT");
    await wait(600);
    child.kill("SIGINT");
    const { code, err } = await ended;
    expect(err).toContain("cloudwire-conformance: ended at once\n");
    expect(err).toContain(`cloudwire-conformance cleanup ${join(report, "resources.jsonl")}`);
    expect(code).toBe(130);
    expect(await readdir(report)).toEqual(["resources.jsonl"]);
  });
});
