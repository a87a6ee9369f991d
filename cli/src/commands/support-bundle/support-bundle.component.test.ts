import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { PATHS } from "@cloudwire/operator-api";
import { extract } from "tar-stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CERTIFICATE } from "../../test/certificate.ts";
import { FakeController } from "../../test/fake-controller.ts";
import { type Ran, type RunOptions, runCli } from "../../test/run-cli.ts";
import { heldNode, overview } from "../../test/samples.ts";
import { makeBundle } from "./bundle.ts";
import { filtered } from "./object-parts.ts";

let controller: FakeController;
let directory: string;
let server: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "bundle-"));
  controller = await FakeController.start();
  server = `https://127.0.0.1:${controller.port}`;
  await writeFile(join(directory, "ca.pem"), CERTIFICATE);
  await writeFile(join(directory, "token"), "t0ken\n");
});
afterEach(async () => {
  await controller[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function run(args: readonly string[], options?: RunOptions): Promise<Ran> {
  const token = join(directory, "token");
  const connection = ["--server", server, "--certificate-authority", join(directory, "ca.pem"), "--token-file", token];
  return runCli(["support-bundle", ...args, ...connection], options);
}

/** Files of an archive by name, in its order. */
async function filesOf(bytes: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const tar = extract();
  Readable.from([gunzipSync(bytes)]).pipe(tar);
  for await (const entry of tar)
    files.set(entry.header.name.replace("cloudwire-support-bundle/", ""), await text(entry));
  return files;
}

const bundled = async (file: string) => filesOf(await readFile(file));

function manifestOf(files: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const manifest: Readonly<Record<string, unknown>> = JSON.parse(files.get("manifest.json") ?? "{}");
  return manifest;
}

describe("support-bundle", () => {
  beforeEach(() => {
    controller.pages.set("/version", { body: { gitVersion: "v1" } });
    controller.pages.set("/configz", { body: { Cloudwire: { Provider: ["simulated=unix:///x"], apiKey: "hunter2" } } });
    controller.pages.set("/flagz", { body: "cloud-api-key=hunter2\nv=4\n" });
    controller.pages.set("/metrics", { body: "cloudwire_build_info 1\n" });
    controller.pages.set("/readyz", { status: 500, body: "[+]caches ok\n[-]provider failed: reason withheld\n" });
    controller.pages.set("/readyz/provider", { status: 500, body: "internal server error: it is away\n" });
    controller.pages.set(PATHS.controllers, {
      body: [{ name: "service-lb-controller" }, { name: "cloud-node-controller" }],
    });
    controller.pages.set(`${PATHS.controllers}/service-lb-controller`, { body: { name: "service-lb-controller" } });
    controller.pages.set(PATHS.overview, { body: overview });
    controller.pages.set(PATHS.plans, { status: 403, body: "no\n" });
    controller.pages.set(PATHS.objects, (query) => ({
      body: query.get("state") === "blocked" ? [{ object: "node/worker-1" }, { object: "service/shop/web" }] : [],
    }));
    controller.pages.set(PATHS.explain, (query) => ({ body: { ...heldNode, object: query.get("object") } }));
  });

  test("has what the controller says, what is blocked, files, no secret, and says what is missing and why", async () => {
    const audit = join(directory, "audit.log");
    await writeFile(audit, `${"x".repeat(5_000_000)}\n{"line":2,"authorization":"Bearer hunter2hunter2"}\n`);
    const recording = join(directory, "provider.rec");
    await writeFile(recording, '{"line":1,"kind":"header"}\n');
    const file = join(directory, "bundle.tar.gz");
    const given = ["--audit-log", audit, "--recording", recording, "--recording", join(directory, "none.rec")];
    const ran = await run(["-f", file, ...given]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toContain("unavailable: state/plans.json: /debug/plans responded with 403: you need a ClusterRole");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const files = await bundled(file);
    expect([...files.keys()]).toEqual([
      "manifest.json",
      "configuration/configz.json",
      "configuration/flagz.txt",
      "files/audit-log-1.jsonl",
      "files/recording-1.rec",
      "health/readyz-provider.txt",
      "health/readyz.txt",
      "metrics/metrics.txt",
      "state/blocked.json",
      "state/controllers.json",
      "state/controllers/service-lb-controller.json",
      "state/explain/node_worker-1.json",
      "state/explain/service_shop_web.json",
      "state/overview.json",
      "version.json",
    ]);
    expect([...files.values()].join("")).not.toContain("hunter2");
    expect(files.get("files/audit-log-1.jsonl")).toBe('{"line":2,"authorization":"[redacted]"}\n');
    expect(files.get("health/readyz-provider.txt")).toContain("it is away");
    expect(manifestOf(files)).toMatchObject({
      format: "cloudwire.support-bundle",
      version: 1,
      controller: server,
      unavailable: [
        { name: "configuration/statusz.txt", message: "/statusz responded with 404" },
        { name: "files/recording-2.rec", message: expect.stringContaining("ENOENT") },
        { name: "health/livez.txt", message: expect.stringContaining("404") },
        { name: "metrics/slis.txt", message: expect.stringContaining("404") },
        { name: "state/controllers/cloud-node-controller.json", message: expect.stringContaining("404") },
        { name: "state/plans.json", message: expect.stringContaining("403") },
        { name: "state/providers.json", message: expect.stringContaining("404") },
      ],
    });
  });

  test("refuses a command line that makes no sense, and writes nothing", async () => {
    const file = join(directory, "bundle.tar.gz");
    const args = ["support-bundle", "-f", file, "--log", join(directory, "token"), "--server", "nowhere"];
    expect(await runCli(args)).toMatchObject({ code: 2, err: expect.stringContaining("invalid --server nowhere") });
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  test("writes nothing when it is to end", async () => {
    const file = join(directory, "bundle.tar.gz");
    const stop = new AbortController();
    controller.pages.set("/version", () => {
      stop.abort(new Error("stopped"));
      return { body: {} };
    });
    await expect(run(["-f", file, "--log", join(directory, "token")], { signal: stop.signal })).rejects.toThrow(
      "stopped",
    );
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  test("overwrites nothing", async () => {
    const file = join(directory, "bundle.tar.gz");
    await writeFile(file, "precious");
    expect(await run(["-f", file])).toMatchObject({ code: 1, err: expect.stringContaining("EEXIST") });
    expect(await readFile(file, "utf8")).toBe("precious");
  });

  test("is made of the files alone where the controller is away, and says so", async () => {
    await controller[Symbol.asyncDispose]();
    const log = join(directory, "log");
    await writeFile(log, "it ended\n");
    const file = join(directory, "bundle.tar.gz");
    expect(await run(["-f", file, "--log", log])).toMatchObject({ code: 0 });
    const files = await bundled(file);
    expect(files.get("files/log-1.txt")).toBe("it ended\n");
    const { unavailable } = manifestOf(files);
    expect(unavailable).toContainEqual({ name: "version.json", message: expect.stringContaining("ECONNREFUSED") });
    controller = await FakeController.start();
  });
});

describe("makeBundle()", () => {
  const head = { program: "cloudwire 1", time: "2026-11-23T12:00:00.000Z", controller: "" };
  const file = (name: string, content: string) => ({ kind: "file", name, text: content }) as const;

  test("makes the same bytes of the same parts, in whatever order they come", async () => {
    const parts = [file("b.txt", "b"), file("a.txt", "token=hunter2"), file(`${"x/".repeat(80)}long.txt`, "c")];
    const first = await makeBundle(parts, head);
    const second = await makeBundle(parts.toReversed(), head);
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect([...(await filesOf(first.bytes)).keys()].slice(0, 3)).toEqual(["manifest.json", "a.txt", "b.txt"]);
    expect(first.manifest.files[0]).toMatchObject({ name: "a.txt", redacted: { "secret by its name": 1 } });
  });
});

describe("filtered()", () => {
  test("leaves an object without managed fields and without what annotations of others say", () => {
    const annotations = {
      "service.kubernetes.io/local": "shown",
      "example.com/secret": "hunter2",
      "kubectl.kubernetes.io/last-applied-configuration":
        '{"metadata":{"annotations":{"example.com/secret":"hunter2"}}}',
    };
    const object = { kind: "Service", metadata: { name: "web", managedFields: [{}], annotations }, spec: { a: 1 } };
    expect(filtered(object)).toEqual({
      kind: "Service",
      metadata: {
        name: "web",
        annotations: {
          "service.kubernetes.io/local": "shown",
          "example.com/secret": "[redacted]",
          "kubectl.kubernetes.io/last-applied-configuration": "[redacted]",
        },
      },
      spec: { a: 1 },
    });
  });
});
