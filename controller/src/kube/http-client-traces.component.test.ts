import { afterEach, expect, test } from "vitest";
import { MemoryTraces } from "../../test/support/memory-traces.ts";
import {
  type Answer,
  nodeJson,
  ScriptedServer,
  sendJson,
  sendStatus,
} from "../../test/support/kube/scripted-server.ts";
import { systemClock } from "../util/clock.ts";
import { HttpKubeClient } from "./http-client.ts";
import { NODES } from "./resources/node.ts";
import { Transport } from "./connection/transport.ts";

const clock = systemClock();
const { signal } = new AbortController();
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(answer: Answer) {
  const [server, traces] = [await ScriptedServer.start(answer), new MemoryTraces()];
  const transport = new Transport({ access: server.access(), clock, metrics: undefined, limiter: undefined });
  cleanUps.push(
    () => server[Symbol.asyncDispose](),
    () => transport.close(),
  );
  const { tracing } = traces;
  const client = new HttpKubeClient({ transport, clock, metrics: undefined, userAgent: "test/1", tracing });
  const within = <T>(work: () => Promise<T>): Promise<T> =>
    tracing.root(() => ({ name: "work", kind: "internal", attributes: {} }), work);
  return { server, client, traces, within, url: new URL(server.access().server) };
}

test("HttpKubeClient makes a call within a span one below it, reports it to the server, and leaves queries out", async () => {
  const { server, client, traces, within, url } = await start((_, response) =>
    sendJson(response, { kind: "NodeList", items: [], metadata: {} }),
  );
  await within(() => client.list(NODES, { labelSelector: "a=b", signal }));
  expect(traces.spans[0]).toEqual({
    name: "GET nodes",
    parent: "work",
    links: [],
    isError: false,
    attributes: {
      "http.request.method": "GET",
      "server.address": url.hostname,
      "server.port": Number(url.port),
      "url.full": `${url.origin}/api/v1/nodes`,
      "http.response.status_code": 200,
    },
  });
  expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([
    expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
  ]);
});

test.each([
  ["status", (_: unknown, response: Parameters<Answer>[1]) => sendStatus(response, 409, "Conflict"), "409", 409],
  [
    "code where there is none",
    (_: unknown, response: Parameters<Answer>[1]) => void response.destroy(),
    "transient",
    undefined,
  ],
])("HttpKubeClient marks a call that failed with its %s", async (_what, answer, type, status) => {
  const { client, traces, within } = await start(answer);
  const patch = { kind: "merge", body: {} } as const;
  await expect(within(() => client.patch(NODES, { name: "n1" }, patch, { signal }))).rejects.toThrow(
    "PATCH /api/v1/nodes/n1",
  );
  expect(traces.spans[0]).toMatchObject({ name: "PATCH nodes", isError: true, attributes: { "error.type": type } });
  expect(traces.spans[0]?.attributes["http.response.status_code"]).toBe(status);
});

test("HttpKubeClient makes no span of a call outside of one", async () => {
  const { server, client, traces } = await start((_, response) => sendJson(response, nodeJson("n1", 1)));
  await client.get(NODES, { name: "n1" }, { signal });
  expect(traces.spans).toEqual([]);
  expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([undefined]);
});
