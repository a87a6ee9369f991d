import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { eventually } from "../../test/support/poll.ts";
import {
  type Answer,
  beginWatch,
  listJson,
  ScriptedServer,
  sendJson,
  sendStatus,
} from "../../test/support/kube/scripted-server.ts";
import { type Options, parseCommand } from "./options.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { systemClock } from "../util/clock.ts";
import { isRecord, type JsonRecord, recordField } from "../util/json.ts";
import { Controller } from "../runtime/controller.ts";
import { requeueAfter } from "../runtime/reconciler.ts";
import { DEFAULT_BACKOFF } from "../workqueue/rate-limited-queue.ts";
import type { Registration } from "../runtime/registration.ts";
import { runProcess } from "./process.ts";

let directory: string;
let server: ScriptedServer;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "daemon-"));
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

async function optionsFor(
  url: string,
  controllers = "cloud-node-controller",
  ...more: readonly string[]
): Promise<Options> {
  const kubeconfig = join(directory, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--provider=acme=unix://${directory}/provider.sock`,
    "--health-bind-address=127.0.0.1:0",
    "--secure-port=0",
    // It uses no random numbers.
    `--controllers=${controllers}`,
    ...more,
  ];
  const command = parseCommand({ args: flags, environment: {}, readText: () => "" }, new Set(controllers.split(",")));
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

/** An API server with one Lease that fails to list nodes. */
function withoutNodes(leases: JsonRecord[]): Answer {
  return ({ method, path, body, query }, response) => {
    if (path === "/api/v1/nodes") return sendStatus(response, 500, "InternalError");
    if (path === "/api/v1/services")
      return query.has("watch") ? beginWatch(response) : sendJson(response, listJson([], 1));
    if (path.endsWith("/namespaces/kube-system")) {
      return sendJson(response, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid: "u-1" } });
    }
    if (method !== "POST" && method !== "PUT") return sendStatus(response, 404, "NotFound");
    const object: unknown = JSON.parse(body);
    if (path.includes("/leases") && isRecord(object)) leases.push(object);
    sendJson(response, object, method === "POST" ? 201 : 200);
  };
}

test("runProcess() releases the Lease and ends as failed when a background task fails", async () => {
  const leases: JsonRecord[] = [];
  server = await ScriptedServer.start(withoutNodes(leases));
  const log = new FakeLog();
  const end = await runProcess({
    options: await optionsFor(server.url),
    metrics: new Metrics(),
    verbosity: { get: () => 0, set: () => undefined },
    environment: {},
    version: "1.0.0",
    log,
    clock: systemClock(),
    // Simulates a bug: the informer's back-off throws once there is a leader.
    random: () => {
      if (leases.length > 0) throw new Error("no random numbers left");
      return 0;
    },
    stop: new AbortController().signal,
    exit: () => undefined,
  });
  expect(end).toBe("failed");
  const identities = leases.map((lease) => recordField(lease, "spec")["holderIdentity"]);
  expect(identities.at(-1)).toBe("");
  expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([
    { message: expect.stringContaining("exiting"), fields: { task: "nodes informer" } },
  ]);
});

const WELL = "cloud-node-controller";
const BROKEN = "node-route-controller";

/** A controller that reconciles one key every 20 ms. */
function registrationOf(name: string, reconciled: () => unknown, ready: () => Promise<void>): Registration<unknown> {
  return {
    name,
    queue: name,
    shortName: name,
    register: (context) => ({
      build: () =>
        new Controller(context, {
          reconciler: {
            reconcile: async () => {
              await reconciled();
              return requeueAfter(20);
            },
          },
          sources: [{ name: "one key", ready, start: (queue) => (queue.add("key"), () => undefined) }],
          workers: 1,
          backoff: DEFAULT_BACKOFF,
        }),
    }),
  };
}

test("runProcess() restarts a controller that panics, reports it, and keeps the others running", async () => {
  server = await ScriptedServer.start(withoutNodes([]));
  const log = new FakeLog();
  const metrics = new Metrics();
  const stop = new AbortController();
  const reconciled = { well: 0, broken: 0 };
  let panics = 0;
  let isReported = false;
  const panicsUntilReported = (): Promise<void> => {
    if (isReported) return Promise.resolve();
    panics += 1;
    return Promise.reject(new TypeError("x is undefined"));
  };
  const ended = runProcess({
    options: await optionsFor(server.url, `${WELL},${BROKEN}`),
    metrics,
    verbosity: { get: () => 0, set: () => undefined },
    environment: {},
    version: "1.0.0",
    log,
    clock: systemClock(),
    random: () => 0,
    registrations: [
      registrationOf(
        WELL,
        () => reconciled.well++,
        () => Promise.resolve(),
      ),
      registrationOf(BROKEN, () => reconciled.broken++, panicsUntilReported),
    ],
    stop: stop.signal,
    exit: () => undefined,
  });
  await eventually("a panic", () => panics > 0);
  const started = log.lines.find(({ message }) => message === "Started");
  const health = await fetch(`${String(started?.fields["health"])}/healthz?verbose`, {
    signal: AbortSignal.timeout(10_000),
  });
  const text = await health.text();
  isReported = true;
  const before = reconciled.well;
  await eventually("the other to go on", () => reconciled.well > before + 5);
  await eventually("a successful start", () => reconciled.broken > 0);
  stop.abort(new Error("the test is over"));

  expect(await ended).toBe("stopped");
  expect(health.status).toBe(200);
  expect(text).toContain(`[+]${WELL} ok\n`);
  expect(text).toMatch(/\[\+\]node-route-controller ok, but: panicked \(\d+ in a row\), .*: x is undefined\n/);
  expect(await metrics.value("cloudwire_controller_panics_total", { controller: BROKEN })).toBe(panics);
  expect(await metrics.value("cloudwire_controller_panics_total", { controller: WELL })).toBeUndefined();
  const starts = log.lines.filter(({ message }) => message === "Controller started");
  expect(starts.map(({ fields }) => fields["controller"])).toEqual([WELL, BROKEN]);
});

test("runProcess() ends a shutdown that times out after leadership is lost", async () => {
  const leases: JsonRecord[] = [];
  const answer = withoutNodes(leases);
  let isRefusing = false;
  server = await ScriptedServer.start((request, response) => {
    if (isRefusing && request.path.includes("/leases")) return sendStatus(response, 500, "InternalError");
    answer(request, response);
  });
  const hung = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<number>();
  const log = new FakeLog();
  const clock = systemClock();
  const times = [
    "--leader-elect-lease-duration=2s",
    "--leader-elect-renew-deadline=1s",
    "--leader-elect-retry-period=200ms",
  ];
  const ended = runProcess({
    options: await optionsFor(server.url, WELL, ...times),
    metrics: new Metrics(),
    verbosity: { get: () => 0, set: () => undefined },
    environment: {},
    version: "1.0.0",
    log,
    // The longest timer is the limit of the shutdown.
    clock: { ...clock, schedule: (delayMs, run) => clock.schedule(delayMs === 28_000 ? 100 : delayMs, run) },
    random: () => 0,
    registrations: [
      registrationOf(
        WELL,
        () => hung.promise,
        () => Promise.resolve(),
      ),
    ],
    stop: new AbortController().signal,
    exit: exited.resolve,
  });
  await eventually("a leader", () => log.messages("info").includes("Became leader"));
  isRefusing = true;
  expect(await exited.promise).toBe(70);
  hung.resolve();
  expect(await ended).toBe("lost");
});
