import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { type Options, parseCommand } from "./options.ts";
import type { RunningServer } from "../server/endpoints.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import { systemClock } from "../util/clock.ts";
import { TaskGroup } from "../util/task-group.ts";
import { serveWebhooks } from "./webhooks.ts";

let directory: string;
let log: FakeLog;
let tasks: TaskGroup;
let server: RunningServer | undefined;
let probe: Server;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "webhooks-"));
  log = new FakeLog();
  tasks = new TaskGroup(() => undefined);
  probe = createServer();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await tasks.stop(new Error("over"));
  probe.close();
  await rm(directory, { recursive: true });
});

function optionsFor(flags: readonly string[]): Options {
  const args = ["--provider=acme=unix:///x.sock", ...flags];
  const command = parseCommand({ args, environment: {}, readText: () => "" }, new Set());
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

async function serve(...flags: readonly string[]): Promise<void> {
  const options = optionsFor(["--webhook-bind-address=127.0.0.1", ...flags]);
  server = await serveWebhooks({
    options,
    tasks,
    metrics: new Metrics(),
    log,
    clock: systemClock(),
    providers: () => [],
    tracing: NO_TRACING,
  });
}

/** A free port. */
async function takePort(): Promise<number> {
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function freePort(): Promise<number> {
  const port = await takePort();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe("serveWebhooks()", () => {
  test.each([[], ["--webhooks=-persistent-volume-label,*"], ["--webhooks=*", "--webhook-secure-port=0"]])(
    "serves nothing for %j %j",
    async (...flags) => {
      await serve(...flags);
      expect([server, log.lines, tasks.running]).toEqual([undefined, [], []]);
    },
  );

  test("shows the authority of a certificate that is in memory alone", async () => {
    const port = await freePort();
    await serve("--webhooks=*", `--webhook-secure-port=${port}`);
    expect(log.lines).toEqual([
      {
        level: "info",
        message: "Serving webhooks",
        fields: {
          urls: `https://127.0.0.1:${port}/persistent-volume-label`,
          caBundle: expect.stringMatching(/^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t/),
        },
      },
    ]);
    expect(tasks.running).toEqual(["webhook certificate"]);
  });

  test("logs the file of a generated certificate", async () => {
    const port = await freePort();
    await serve("--webhooks=*", `--webhook-secure-port=${port}`, `--webhook-cert-dir=${directory}`);
    const file = join(directory, "cloud-controller-manager-webhook.crt");
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { urls: expect.any(String), certificate: file, caFile: file },
    ]);
    expect(await readFile(file, "utf8")).toMatch(/^-----BEGIN CERTIFICATE-----/);
  });

  test("rejects when the port is in use", async () => {
    const port = await takePort();
    await expect(serve("--webhooks=*", `--webhook-secure-port=${port}`)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringMatching(
        new RegExp(`^--webhook-secure-port: cannot listen on 127\\.0\\.0\\.1, port ${port}: listen EADDRINUSE`),
      ),
    });
  });

  test("reports a problem of the certificate", async () => {
    const given = ["--webhook-tls-cert-file=/nowhere/tls.crt", "--webhook-tls-private-key-file=/nowhere/tls.crt"];
    await expect(serve("--webhooks=*", ...given)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringMatching(/^--webhooks: cannot read the (certificate|private key): ENOENT.*tls\.crt/),
    });
  });
});
