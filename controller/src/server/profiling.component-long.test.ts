import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveProfiling } from "./profiling.ts";

let server: FastifyInstance;
let level: number;
let url: string;

beforeEach(async () => {
  level = 2;
  server = fastify({ forceCloseConnections: true });
  serveProfiling(server, {
    get: () => level,
    set: (wanted) => {
      level = wanted;
    },
  });
  url = await server.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => server.close());

const put = (body: string) =>
  fetch(`${url}/debug/flags/v`, { method: "PUT", body, headers: { "content-type": "text/plain" } });

describe("serveProfiling()", () => {
  test("sets the level of the log", async () => {
    const answer = await put("5");
    expect([answer.status, await answer.text(), level]).toEqual([200, "the log level is now 5\n", 5]);
  });

  test.each(["", "high", "-1", "100"])("refuses %j as a level", async (body) => {
    const answer = await put(body);
    expect([answer.status, level]).toEqual([400, 2]);
  });

  test("takes a CPU profile, one at a time", async () => {
    const first = fetch(`${url}/debug/pprof/profile?seconds=1`);
    const second = await fetch(`${url}/debug/pprof/profile?seconds=1`);
    const answer = await first;
    // Whichever came first takes it.
    expect([answer.status, second.status].toSorted((left, right) => left - right)).toEqual([200, 409]);
    const profile: unknown = JSON.parse(await (answer.status === 200 ? answer : second).text());
    expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
  });

  test.each(["0", "301", "soon"])("refuses to profile for %s seconds", async (seconds) => {
    expect((await fetch(`${url}/debug/pprof/profile?seconds=${seconds}`)).status).toBe(400);
  });

  test("takes a heap snapshot, and another after it", async () => {
    for (let times = 0; times < 2; times++) {
      const snapshot: unknown = await (await fetch(`${url}/debug/pprof/heap`)).json();
      expect(snapshot).toMatchObject({ snapshot: { node_count: expect.any(Number) } });
    }
  }, 120_000);
});
