import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "@cloudwire/test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HealthProbe } from "./health-probe.ts";

const SLOW_MS = 150;

let server: Server;
let stack: AsyncDisposableStack;

/** Responds late and with an error, which counts as a response. */
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = createServer((_, answer) => {
    void wait(SLOW_MS).then(() => answer.writeHead(500).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  await stack.disposeAsync();
  server.closeAllConnections();
  server.close();
});

function healthUrl(): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/healthz`;
}

const answered = (probe: HealthProbe, count: number): Promise<true> =>
  eventually(`${count} answers`, 20_000, () => (probe.answersMs.length >= count ? true : undefined));

describe("HealthProbe", () => {
  test("probes repeatedly and records each duration until it is reset", async () => {
    const probe = stack.use(new HealthProbe(Promise.resolve({ health: healthUrl() })));
    await answered(probe, 3);
    // Timers may fire a moment early.
    expect(Math.min(...probe.answersMs)).toBeGreaterThan(SLOW_MS - 5);
    probe.forget();
    expect(probe.answersMs).toEqual([]);
    await answered(probe, 1);
  });

  test("does not count a server that is not there yet", async () => {
    const url = healthUrl();
    server.close();
    await once(server, "close");
    const probe = stack.use(new HealthProbe(Promise.resolve({ health: url })));
    server.listen(Number(new URL(url).port), "127.0.0.1");
    await answered(probe, 1);
    expect(Math.max(...probe.answersMs)).toBeLessThan(9999);
  });

  test("has no answers of one whose page never becomes known, and ends", async () => {
    const probe = new HealthProbe(Promise.reject(new Error("it ended before it said where")));
    await probe[Symbol.asyncDispose]();
    expect(probe.answersMs).toEqual([]);
  });
});
