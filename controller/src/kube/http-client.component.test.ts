import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../test/support/poll.ts";
import {
  type Answer,
  listJson,
  nodeJson,
  ScriptedServer,
  sendJson,
  sendStatus,
} from "../../test/support/kube/scripted-server.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import { systemClock } from "../util/clock.ts";
import { TokenBucket } from "../util/token-bucket.ts";
import type { ApiAccess } from "./connection/access.ts";
import { isApiError } from "./errors.ts";
import { EVENTS } from "./resources/event.ts";
import { HttpKubeClient } from "./http-client.ts";
import { NODES } from "./resources/node.ts";
import { restMetrics } from "./connection/metrics.ts";
import { SERVICES } from "./resources/service.ts";
import { Transport } from "./connection/transport.ts";

const fixture = (name: string): Buffer => readFileSync(new URL(`../../test/fixtures/kube/${name}`, import.meta.url));
const signal = new AbortController().signal;
const clock = systemClock();
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(answer: Answer, access?: (server: ScriptedServer) => ApiAccess, limiter?: TokenBucket) {
  const server = await ScriptedServer.start(answer);
  const metrics = new Metrics();
  const rest = restMetrics(metrics);
  const transport = new Transport({ access: access?.(server) ?? server.access(), clock, metrics: rest, limiter });
  const client = new HttpKubeClient({ transport, clock, metrics: rest, userAgent: "test/1", tracing: NO_TRACING });
  cleanUps.push(
    () => server[Symbol.asyncDispose](),
    () => transport.close(),
  );
  return { server, client, metrics, transport };
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("Transport", () => {
  test("sends many requests at once over a bounded number of connections", async () => {
    const { server, client } = await start((_, response) => sendJson(response, nodeJson("n1", 1)));
    const nodes = await Promise.all(Array.from({ length: 100 }, () => client.get(NODES, { name: "n1" }, { signal })));
    expect([nodes.length, server.requests.length, server.connections]).toEqual([100, 100, 32]);
  });
});

describe("HttpKubeClient encodings", () => {
  test("asks for protobuf and reads it", async () => {
    const { server, client } = await start((_, response) => {
      response.writeHead(200, { "content-type": "application/vnd.kubernetes.protobuf" });
      response.end(fixture("node-full.pb"));
    });
    const node = await client.get(NODES, { name: "ip-10-0-0-1.example" }, { signal });
    expect(node.spec.providerID).toBe("example:///eu-1a/i-0abc");
    expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
      "application/vnd.kubernetes.protobuf, application/json",
    ]);
  });

  test("reads JSON when the server chooses it", async () => {
    const { client } = await start((_, response) => sendJson(response, nodeJson("n1", 1)));
    expect((await client.get(NODES, { name: "n1" }, { signal })).metadata.name).toBe("n1");
  });

  test.each([406, 415])("falls back to JSON for good when the server answers %d", async (code) => {
    const { server, client } = await start(({ headers }, response) => {
      if (headers.accept?.includes("protobuf") === true) sendStatus(response, code, "NotAcceptable");
      else sendJson(response, nodeJson("n1", 1));
    });
    await client.get(NODES, { name: "n1" }, { signal });
    await client.get(NODES, { name: "n1" }, { signal });
    expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
      "application/vnd.kubernetes.protobuf, application/json",
      "application/json",
      "application/json",
    ]);
  });
});

describe("HttpKubeClient requests", () => {
  test("go where Kubernetes wants them, as it wants them", async () => {
    const { server, client } = await start(({ path }, response) => {
      if (path.includes("events")) sendJson(response, { kind: "Event", metadata: { name: "e" } }, 201);
      else if (path.includes("services")) sendJson(response, { kind: "Service", metadata: { name: "web" } });
      else sendJson(response, nodeJson("n1", 1));
    });
    await client.patch(
      SERVICES,
      { namespace: "shop", name: "web" },
      { kind: "strategic", body: { status: {} } },
      { signal, subresource: "status" },
    );
    await client.patch(NODES, { name: "n1" }, { kind: "merge", body: { spec: { unschedulable: null } } }, { signal });
    await client.patch(
      NODES,
      { name: "n1" },
      { kind: "json", body: [{ op: "remove", path: "/spec/taints/0" }] },
      { signal },
    );
    await client.create(EVENTS, "default", { metadata: { name: "e" } }, { signal });
    await client.delete(NODES, { name: "n1" }, { signal, preconditions: { uid: "u1" } });
    expect(
      server.requests.map(({ method, path, headers, body }) => [method, path, headers["content-type"], body]),
    ).toEqual([
      [
        "PATCH",
        "/api/v1/namespaces/shop/services/web/status",
        "application/strategic-merge-patch+json",
        '{"status":{}}',
      ],
      ["PATCH", "/api/v1/nodes/n1", "application/merge-patch+json", '{"spec":{"unschedulable":null}}'],
      ["PATCH", "/api/v1/nodes/n1", "application/json-patch+json", '[{"op":"remove","path":"/spec/taints/0"}]'],
      [
        "POST",
        "/api/v1/namespaces/default/events",
        "application/json",
        '{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"}}',
      ],
      [
        "DELETE",
        "/api/v1/nodes/n1",
        "application/json",
        '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1"}}',
      ],
    ]);
    expect(new Set(server.requests.map(({ headers }) => headers["user-agent"]))).toEqual(new Set(["test/1"]));
  });

  test("share connections, one after the other", async () => {
    const { server, client } = await start((_, response) => sendJson(response, nodeJson("n1", 1)));
    for (let i = 0; i < 20; i++) await client.get(NODES, { name: "n1" }, { signal });
    expect(server.connections).toBeLessThan(4);
  });

  test("keep to the limiter's rate and say how long they waited", async () => {
    const limiter = new TokenBucket({ perSecond: 50, burst: 1 }, clock);
    const { client, metrics } = await start((_, response) => sendJson(response, nodeJson("n1", 1)), undefined, limiter);
    const startMs = clock.monotonicMs();
    await Promise.all(Array.from({ length: 4 }, () => client.get(NODES, { name: "n1" }, { signal })));
    expect(clock.monotonicMs() - startMs).toBeGreaterThan(55);
    expect(await metrics.text()).toContain("rest_client_rate_limiter_duration_seconds_count");
  });
});

describe("HttpKubeClient errors", () => {
  test.each([
    { status: 404, reason: "NotFound", code: "notFound" },
    { status: 409, reason: "Conflict", code: "conflict" },
    { status: 409, reason: "AlreadyExists", code: "alreadyExists" },
    { status: 410, reason: "Expired", code: "gone" },
    { status: 422, reason: "Invalid", code: "invalid" },
    { status: 400, reason: "BadRequest", code: "invalid" },
    { status: 403, reason: "Forbidden", code: "forbidden" },
    { status: 401, reason: "Unauthorized", code: "unauthorized" },
    { status: 500, reason: "InternalError", code: "transient" },
    { status: 503, reason: "ServiceUnavailable", code: "transient" },
  ])("$status $reason is $code", async ({ status, reason, code }) => {
    const { client } = await start((_, response) => sendStatus(response, status, reason));
    const error = await failure(client.patch(NODES, { name: "n1" }, { kind: "merge", body: {} }, { signal }));
    expect(error).toMatchObject({
      code,
      httpStatus: status,
      reason,
      message: expect.stringContaining("PATCH /api/v1/nodes/n1: API server returned"),
    });
  });

  test("a create in a terminating namespace is no denied call (case S-9)", async () => {
    const { client, metrics } = await start((_, response) =>
      sendJson(
        response,
        {
          kind: "Status",
          reason: "Forbidden",
          code: 403,
          message: "being terminated",
          details: {
            causes: [{ reason: "NamespaceTerminating", message: "being terminated", field: "metadata.namespace" }],
          },
        },
        403,
      ),
    );
    expect(await failure(client.create(EVENTS, "shop", {}, { signal }))).toMatchObject({
      code: "namespaceTerminating",
      message: "POST /api/v1/namespaces/shop/events: API server returned 403: being terminated",
    });
    expect(await metrics.text()).not.toContain("cloudwire_apiserver_denied_calls_total{");
  });

  test.each(["unauthorized", "forbidden"] as const)("a call that ends with %s is counted as denied", async (reason) => {
    const status = { unauthorized: 401, forbidden: 403 }[reason];
    const { client, metrics } = await start((_, response) => sendStatus(response, status, reason));
    await failure(client.get(NODES, { name: "n1" }, { signal }));
    expect(await metrics.value("cloudwire_apiserver_denied_calls_total", { reason, method: "GET" })).toBe(1);
  });

  test("a page that is no Status is an error with the page's beginning", async () => {
    const { client } = await start((_, response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end("<html>bad gateway");
    });
    expect(await failure(client.get(NODES, { name: "n1" }, { signal }))).toMatchObject({
      code: "transient",
      message: "GET /api/v1/nodes/n1: API server returned 502: <html>bad gateway",
    });
  });

  test("an answer that cannot be read is transient and says why", async () => {
    const { client } = await start((_, response) => sendJson(response, { kind: "Pod" }));
    expect(await failure(client.get(NODES, { name: "n1" }, { signal }))).toMatchObject({
      code: "transient",
      message: 'GET /api/v1/nodes/n1: cannot decode Node: expected kind "Node", got "Pod"',
    });
  });
});

describe("HttpKubeClient retries", () => {
  test("waits as long as Retry-After says, for any verb", async () => {
    let turn = 0;
    const { client, metrics, server } = await start((_, response) => {
      if (++turn === 1) sendStatus(response, 429, "TooManyRequests", { "retry-after": "1" });
      else sendJson(response, nodeJson("n1", 1));
    });
    const startMs = clock.monotonicMs();
    await client.patch(NODES, { name: "n1" }, { kind: "merge", body: {} }, { signal });
    expect(clock.monotonicMs() - startMs).toBeGreaterThan(990);
    expect(server.requests).toHaveLength(2);
    expect(await metrics.value("rest_client_request_retries_total", { code: "429", verb: "PATCH" })).toBe(1);
  });

  test("hands the wait to the caller when its deadline is sooner", async () => {
    const { client, server } = await start((_, response) =>
      sendStatus(response, 429, "TooManyRequests", { "retry-after": "60" }),
    );
    const error = await failure(client.get(NODES, { name: "n1" }, { signal, timeoutMs: 5000 }));
    expect(error).toMatchObject({ code: "tooManyRequests", retryAfterMs: 60_000 });
    expect(server.requests).toHaveLength(1);
  });

  test("does not repeat a write after a failure without Retry-After", async () => {
    const { client, server } = await start((_, response) => sendStatus(response, 500, "InternalError"));
    await failure(client.patch(NODES, { name: "n1" }, { kind: "merge", body: {} }, { signal }));
    expect(server.requests).toHaveLength(1);
  });

  test("repeats a read, not a write, whose connection breaks before the answer", async () => {
    let turn = 0;
    const { client, server } = await start((_, response) => {
      if (++turn % 2 === 1) response.socket?.destroy();
      else sendJson(response, nodeJson("n1", 1));
    });
    await client.get(NODES, { name: "n1" }, { signal });
    const error = await failure(client.patch(NODES, { name: "n1" }, { kind: "merge", body: {} }, { signal }));
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "GET", "PATCH"]);
    expect(isApiError(error, "transient")).toBe(true);
  });

  test("asks for credentials again after a 401, once", async () => {
    const asked: boolean[] = [];
    const access = (server: ScriptedServer): ApiAccess => ({
      ...server.access(),
      credentials: (renew) => {
        asked.push(renew);
        return Promise.resolve({
          headers: { authorization: `Bearer ${asked.includes(true) ? "new" : "old"}` },
          tls: {},
        });
      },
    });
    const { client, server, metrics } = await start(({ headers }, response) => {
      if (headers.authorization === "Bearer new") sendJson(response, nodeJson("n1", 1));
      else sendStatus(response, 401, "Unauthorized");
    }, access);
    await client.get(NODES, { name: "n1" }, { signal });
    expect(await metrics.text()).not.toContain("cloudwire_apiserver_denied_calls_total{");
    server.answer = (_, response) => sendStatus(response, 401, "Unauthorized");
    expect(await failure(client.get(NODES, { name: "n1" }, { signal }))).toMatchObject({ code: "unauthorized" });
    expect(server.requests).toHaveLength(4);
  });
});

describe("HttpKubeClient deadlines", () => {
  test.each([
    { what: "a server that never answers", answer: () => undefined },
    {
      what: "a server that never ends its answer",
      answer: ((_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"kind":');
      }) satisfies Answer,
    },
  ])("ends a call to $what and closes its connection", async ({ answer }) => {
    const { client, server } = await start(answer);
    const error = await failure(client.get(NODES, { name: "n1" }, { signal, timeoutMs: 100 }));
    expect(error).toMatchObject({ code: "transient", message: "GET /api/v1/nodes/n1: no response within 100 ms" });
    await eventually("connection closed", () => server.open === 0);
  });

  test("distinguishes an abort of the caller", async () => {
    const { client } = await start(() => undefined);
    const abort = new AbortController();
    const call = failure(client.get(NODES, { name: "n1" }, { signal: abort.signal }));
    abort.abort(new Error("shutdown"));
    expect(await call).toMatchObject({ code: "aborted" });
  });

  test("ends a call though the credentials never come again after a 401", async () => {
    const access = (server: ScriptedServer): ApiAccess => ({
      ...server.access(),
      credentials: (renew) => (renew ? new Promise(() => undefined) : Promise.resolve({ headers: {}, tls: {} })),
    });
    const { client } = await start((_, response) => sendStatus(response, 401, "Unauthorized"), access);
    const error = await failure(client.get(NODES, { name: "n1" }, { signal, timeoutMs: 100 }));
    expect(error).toMatchObject({ code: "transient", message: "GET /api/v1/nodes/n1: no response within 100 ms" });
  });

  test("ends a call though the credentials never come", async () => {
    const { client } = await start(
      () => undefined,
      (server) => ({ ...server.access(), credentials: () => new Promise(() => undefined) }),
    );
    const error = await failure(client.get(NODES, { name: "n1" }, { signal, timeoutMs: 100 }));
    expect(error).toMatchObject({ code: "transient", message: "GET /api/v1/nodes/n1: no response within 100 ms" });
  });

  test("says in one line when no server listens", async () => {
    const { client, server } = await start(() => undefined);
    await server[Symbol.asyncDispose]();
    const error = await failure(client.get(NODES, { name: "n1" }, { signal }));
    expect(error).toMatchObject({
      code: "transient",
      message: expect.stringMatching(/^GET \/api\/v1\/nodes\/n1: .*ECONNREFUSED/),
    });
  });
});

describe("HttpKubeClient.list()", () => {
  test("asks for a page of 100 and hands on where the next begins", async () => {
    const { client, server } = await start((_, response) =>
      sendJson(response, listJson([nodeJson("n1", 1)], 5, "next")),
    );
    const first = await client.list(NODES, { signal, labelSelector: "a=b" });
    await client.list(NODES, { signal, continue: first.continue });
    expect(first).toMatchObject({ continue: "next", resourceVersion: "5" });
    expect(server.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
      { labelSelector: "a=b", limit: "100" },
      { limit: "100", continue: "next" },
    ]);
  });
});
