import { readFile } from "node:fs/promises";
import { PATHS } from "@cloudwire/operator-api";
import fastify, { type FastifyInstance } from "fastify";
import { expect, test } from "vitest";
import { FakeInformer } from "../../test/support/kube/fake-informer.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import type { Node } from "../api/node.ts";
import { STATUS_READER_PATHS } from "../api/permissions.ts";
import type { Service } from "../api/service.ts";
import { parseCommand } from "./options.ts";
import { HealthMetrics } from "../server/health.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { systemClock } from "../util/clock.ts";
import { Explainer } from "../explain/explainer.ts";
import { HistoryStores } from "../explain/history/stores.ts";
import { ObjectEvaluator } from "../explain/evaluate/object-evaluator.ts";
import { Orphans } from "../explain/evaluate/orphans.ts";
import { operatorOverview } from "../explain/overview/overview.ts";
import { type EndpointsDependencies, serveEndpoints } from "./serving.ts";
import { serveOperatorEndpoints } from "../explain/register.ts";

function dependencies(): EndpointsDependencies {
  const command = parseCommand(
    { args: ["--provider=acme=unix:///x.sock"], environment: {}, readText: () => "" },
    new Set(),
  );
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  const clock = systemClock();
  const metrics = new Metrics();
  const known = {
    nodes: new FakeInformer<Node>(),
    services: new FakeInformer<Service>(),
    providers: () => undefined,
    providerSnapshots: () => [],
    controllers: () => [],
    replica: () => ({ identity: "one", isLeader: true, version: "1.0.0" }),
    clock,
  };
  const history = new HistoryStores(clock);
  const routes = { hasRoutes: false, routeManagement: () => "off" as const, clusterCidrs: () => [] };
  return {
    ...known,
    options: command.options,
    reloader: undefined,
    plans: undefined,
    controllerNames: new Set(),
    version: "1.0.0",
    metrics,
    health: new HealthMetrics({ liveness: [], readiness: [] }),
    verbosity: { get: () => 0, set: () => undefined },
    status: () => ({}),
    overview: operatorOverview({
      ...known,
      ...routes,
      cluster: "c",
      observing: false,
      controllerNames: [],
      metrics,
      log: new FakeLog(),
    }),
    explainer: new Explainer({ ...known, evaluator: new ObjectEvaluator(known), history }),
    orphans: new Orphans({ ...known, ...routes, providers: () => [] }),
  };
}

/** `GET /readyz/NAME`, of all that is put on a server. */
async function routesOf(serve: (server: FastifyInstance) => void): Promise<readonly string[]> {
  const routes = new Set<string>();
  await using server = fastify();
  server.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (one !== "HEAD") routes.add(`${one} ${url.replace(/:\w+$/, "NAME")}`);
  });
  serve(server);
  return [...routes].toSorted();
}

/** The first column of the reference's tables, in the same form. */
async function documented(): Promise<readonly string[]> {
  const page = await readFile(new URL("../../../docs/reference/endpoints.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => /^\| `(?:PUT )?\//.test(line));
  return rows.flatMap((row) => {
    const [, cell = ""] = row.split("|");
    return [...cell.matchAll(/`(?:(PUT) )?(\/[^`?]*)(?:\?[^`]*)?`/g)].map(
      ([, method = "GET", path = ""]) => `${method} ${path.replace("CHECK", "NAME")}`,
    );
  });
}

/** Of one page, that is documented as a whole. */
const isOfPage = (route: string): boolean => route === `GET ${PATHS.page}` || route.startsWith(`GET ${PATHS.page}/`);

test("every endpoint is in the reference, and there are no others in it", async () => {
  const served = await routesOf((server) => serveEndpoints(server, dependencies()));
  const written = await documented();
  expect(served.filter((route) => !isOfPage(route))).toEqual(written.filter((route) => !isOfPage(route)).toSorted());
  expect(served.filter(isOfPage)).toEqual(["GET /status", "GET /status/", "GET /status/NAME"]);
  expect(written.filter(isOfPage)).toEqual(["GET /status/"]);
});

test("loopback serves nothing that writes, calls a cloud, or contains secrets", async () => {
  const served = await routesOf((server) => serveOperatorEndpoints(server, dependencies()));
  expect(served).toEqual([
    "GET /debug/controllers",
    "GET /debug/controllers/NAME",
    "GET /debug/explain",
    "GET /debug/objects",
    "GET /debug/overview",
    "GET /debug/plans",
    "GET /debug/providers",
    "GET /debug/stream",
    "GET /status",
    "GET /status/",
    "GET /status/NAME",
  ]);
});

test("operators may read all of them and the orphans", () => {
  expect(STATUS_READER_PATHS).toEqual([
    "/debug/controllers",
    "/debug/controllers/*",
    "/debug/explain",
    "/debug/objects",
    "/debug/orphans",
    "/debug/overview",
    "/debug/plans",
    "/debug/providers",
    "/debug/stream",
    "/status",
    "/status/*",
  ]);
});
