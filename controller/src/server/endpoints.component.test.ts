import { afterEach, describe, expect, test } from "vitest";
import { Metrics } from "../telemetry/metrics.ts";
import { HealthMetrics } from "./health.ts";
import { type RunningServer, startServer } from "./endpoints.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(problem: string | undefined): Promise<string> {
  const health = new HealthMetrics({
    liveness: [{ name: "ping", problem: () => undefined }],
    readiness: [{ name: "provider", problem: () => problem }],
  });
  const server = await startServer({ host: "127.0.0.1", port: 0 }, new Metrics(), health);
  running.push(server);
  return server.url;
}

const ask = async (url: string) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
  return { status: response.status, text: await response.text() };
};

describe("startServer()", () => {
  test.each([
    { path: "/healthz", status: 200, text: "ok" },
    { path: "/livez?verbose", status: 200, text: "[+]ping ok\nlivez check passed\n" },
    { path: "/readyz", status: 500, text: "[-]provider failed: gone\nreadyz check failed\n" },
    { path: "/readyz?exclude=provider", status: 200, text: "ok" },
    { path: "/readyz/provider", status: 500, text: "[-]provider failed: gone\nreadyz check failed\n" },
    { path: "/readyz/moon", status: 404, text: "no check moon\n" },
  ])("responds to $path with $status while the provider is unavailable", async ({ path, status, text }) => {
    expect(await ask((await start("gone")) + path)).toEqual({ status, text });
  });

  test("serves metrics in Prometheus' text format", async () => {
    expect(await ask(`${await start(undefined)}/metrics`)).toMatchObject({ status: 200 });
  });

  test("counts health checks on a page of their own, and shows there how they are now", async () => {
    const url = await start("gone");
    await ask(`${url}/readyz`);
    await ask(`${url}/livez`);
    const { status, text } = await ask(`${url}/metrics/slis`);
    expect({ status, samples: text.split("\n").filter((line) => !line.startsWith("#") && line !== "") }).toEqual({
      status: 200,
      samples: [
        'kubernetes_healthcheck{name="ping",type="healthz"} 1',
        'kubernetes_healthcheck{name="ping",type="livez"} 1',
        'kubernetes_healthcheck{name="provider",type="readyz"} 0',
        'kubernetes_healthchecks_total{name="provider",type="readyz",status="error"} 1',
        'kubernetes_healthchecks_total{name="ping",type="livez",status="success"} 1',
      ],
    });
  });

  test("rejects when the address is in use", async () => {
    const port = Number(new URL(await start(undefined)).port);
    const health = new HealthMetrics({ liveness: [], readiness: [] });
    const second = startServer({ host: "127.0.0.1", port }, new Metrics(), health);
    await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});
