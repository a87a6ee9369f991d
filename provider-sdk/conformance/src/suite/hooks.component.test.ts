import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Hook, Hooks } from "./hooks.ts";
import { CreatedResources, type CreatedResource } from "./created-resources.ts";
import { HookSession } from "./hook-session.ts";
import { runHook, undoAll } from "./run-hook.ts";

const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), "conformance-hooks-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

const sh = (script: string, more: Partial<Extract<Hook, { kind: "command" }>> = {}): Hook => ({
  kind: "command",
  command: ["sh", "-c", script],
  ...more,
});

describe("runHook()", () => {
  test("gives a command the run's values, in its directory, and answers what it wrote", async () => {
    const path = directory();
    const hook = sh('echo "$CONFORMANCE_NODE_NAME"; pwd; echo aside >&2', { directory: path });
    expect(await runHook("instanceStop", hook, { CONFORMANCE_NODE_NAME: "n-1" })).toBe(`n-1\n${path}\n`);
  });

  test.each<[string, Hook, RegExp]>([
    [
      "ends with an error",
      sh("echo no such cloud >&2; exit 3"),
      /^the hook cloudBlock failed: it ended with code 3: no such cloud$/,
    ],
    [
      "takes too long",
      sh("sleep 60", { timeoutMs: 200 }),
      /^the hook cloudBlock failed: it did not end within 200 ms$/,
    ],
    ["is not there", { kind: "command", command: ["/nowhere"] }, /failed: \/nowhere could not be started: /],
    ["throws", { kind: "function", call: () => Promise.reject(new Error("no")) }, /^the hook cloudBlock failed: no$/],
  ])("says what is wrong with one that %s", async (_what, hook, message) => {
    await expect(runHook("cloudBlock", hook, {})).rejects.toThrow(message);
  });

  test("sends a request with the run's values filled in, and takes no answer but success for one", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      request.on("data", (chunk: Buffer) => seen.push(`${request.method} ${request.url} ${String(chunk)}`));
      request.on("end", () => response.writeHead(request.url === "/bad" ? 500 : 200).end("done"));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const http = (path: string, body: string): Hook => ({
      kind: "http",
      method: "POST",
      url: `http://127.0.0.1:${port}${path}`,
      headers: {},
      body,
    });
    expect(
      await runHook("zoneOutage", http("/${CONFORMANCE_ZONE}", "${CONFORMANCE_ZONE}"), { CONFORMANCE_ZONE: "z" }),
    ).toBe("done");
    expect(seen).toEqual(["POST /z z"]);
    await expect(runHook("zoneOutage", http("/bad", "x"), {})).rejects.toThrow(/POST http:.*\/bad answered 500: done$/);
    await expect(runHook("zoneOutage", http("/", "${NO_SUCH_VALUE}"), {})).rejects.toThrow(
      /no variable NO_SUCH_VALUE$/,
    );
  });
});

/** A session whose steps are taken down: what is noted in the resources, and what is carried out. */
const recorded = (hooks: Hooks = {}) => {
  const steps: string[] = [];
  const resources = new CreatedResources("c", (entry) =>
    steps.push(`noted ${entry.kind === "hook" ? entry.undo : entry.kind}`),
  );
  const reported = (name: keyof Hooks): Hook => ({
    kind: "function",
    call: () => {
      steps.push(name);
      return '{"providerId":"acme://m-1"}';
    },
  });
  const all: Hooks = {
    cloudBlock: reported("cloudBlock"),
    cloudUnblock: reported("cloudUnblock"),
    instanceCreate: reported("instanceCreate"),
    instanceTerminate: reported("instanceTerminate"),
    ...hooks,
  };
  return { steps, resources, session: new HookSession({ hooks: all, resources, runId: "c" }) };
};

describe("HookSession", () => {
  test("notes what it is about to do, and undoes it at the end of the check, the last first", async () => {
    const { steps, resources, session } = recorded();
    const { hooks, close } = session.open("a.b", new AbortController().signal);
    await hooks.set("cloudBlock");
    expect((await hooks.createMachine()).providerId).toBe("acme://m-1");
    await close();
    expect(steps).toEqual([
      "noted cloudUnblock",
      "cloudBlock",
      "noted instanceTerminate",
      "instanceCreate",
      "instanceTerminate",
      "cloudUnblock",
    ]);
    expect(resources.entries).toEqual([]);
    await expect(hooks.set("cloudBlock")).rejects.toThrow(/the check ended before/);
  });

  test("undoes once what a check has undone, and also what failed half-way", async () => {
    const failing: Hook = { kind: "function", call: () => Promise.reject(new Error("half")) };
    const { steps, session } = recorded({ instanceCreate: failing });
    const { hooks, close } = session.open("a.b", new AbortController().signal);
    await hooks.set("cloudBlock");
    await hooks.undo("cloudBlock");
    await expect(hooks.createMachine()).rejects.toThrow(/half/);
    await close();
    expect(steps.slice(2)).toEqual(["cloudUnblock", "noted instanceTerminate", "instanceTerminate"]);
  });

  test("reports that no check can be evaluated any longer if a fault stays, and keeps its note", async () => {
    const failing: Hook = { kind: "function", call: () => Promise.reject(new Error("broken for good")) };
    const { resources, session } = recorded({ cloudUnblock: failing });
    const { hooks, close } = session.open("a.b", new AbortController().signal);
    await hooks.set("cloudBlock");
    await close();
    expect(session.stuck).toMatch(/^a\.b could not undo what it did to the cloud: .*broken for good$/);
    expect(resources.entries).toMatchObject([{ kind: "hook", undo: "cloudUnblock" }]);
  });
});

describe("undoAll()", () => {
  const entries: readonly CreatedResource[] = [
    { kind: "hook", undo: "cloudUnblock", variables: {} },
    { kind: "hook", undo: "cloudUnblock", variables: {} },
    { kind: "hook", undo: "instanceTerminate", variables: { CONFORMANCE_NODE_NAME: "n-1" } },
  ];

  test("undoes each thing once, and reports what it could not", async () => {
    const path = join(directory(), "log");
    const hooks: Hooks = { cloudUnblock: sh(`echo "$CONFORMANCE_ACTION" >> ${path}`) };
    expect(await undoAll(entries, hooks, AbortSignal.timeout(60_000))).toEqual([
      "instanceTerminate n-1: the configuration has no hook instanceTerminate",
    ]);
    expect(readFileSync(path, "utf8")).toBe("cloudUnblock\n");
  });
});
