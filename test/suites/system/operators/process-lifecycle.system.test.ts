import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE } from "../support/lease.ts";
import type { Harness } from "../support/harness.ts";

const CREATE = "loadBalancers.create";

let harness: Harness;
let sidecar: Program;

eachHarness(async (fresh) => {
  harness = fresh;
  // A call lasts as long as the cloud takes.
  sidecar = await harness.startSidecar({ args: ["--call-timeout-ms=90000"] });
});

const holderIdentity = async () => at(await harness.kube.get(LEASE), "spec", "holderIdentity");

/** Revisions of etcd: what was written first has the lower one, whatever it is. */
const revisionOf = async (path: string) => Number(at(await harness.kube.get(path), "metadata", "resourceVersion"));

async function statusOf(controller: Program, path: string): Promise<number> {
  const [, url] = await controller.said(/health=(http:\S+)/);
  const { status } = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(10_000) });
  return status;
}

/** Leads, and a load balancer is being made that takes so long. */
async function withWorkInHand(latencyMs: number): Promise<Program> {
  const controller = harness.startController();
  await controller.said(/Controller started.*service-lb-controller/);
  await harness.admin.change({ latency: { [CREATE]: { fixedMs: latencyMs, jitterMs: 0 } } });
  await harness.createService("web", 80);
  await harness.inFlight(CREATE);
  return controller;
}

describe("SIGTERM", () => {
  test("lets work in hand finish, gives the lead up after it, and answers until the end", async () => {
    const controller = await withWorkInHand(6000);
    controller.signal("SIGTERM");
    await controller.said(/INFO {2}Shutting down detail/);
    const whileDraining = {
      readyz: await statusOf(controller, "/readyz"),
      livez: await statusOf(controller, "/livez"),
      healthz: await statusOf(controller, "/healthz"),
      shutdown: await statusOf(controller, "/readyz/shutdown"),
      metrics: await statusOf(controller, "/metrics"),
    };
    expect(controller.output).not.toMatch(/Controller stopped.*service-lb-controller/);

    expect(await controller.exit(30_000)).toEqual({ code: 0, signal: null });
    expect(whileDraining).toEqual({ readyz: 500, livez: 200, healthz: 200, shutdown: 500, metrics: 200 });
    expect(controller.output).toMatch(
      /Controller stopped controller=service-lb-controller[^]*Leadership released[^]*Shutdown completed/,
    );
    const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
    expect(at(service, "status", "loadBalancer", "ingress", 0, "ip")).toEqual(expect.any(String));
    expect(await holderIdentity()).toBe("");
    expect(await revisionOf(LEASE)).toBeGreaterThan(await revisionOf("/api/v1/namespaces/default/services/web"));
    await harness.hasEvents("Service", "web", "EnsuredLoadBalancer");
  });

  test("cuts off what takes longer than the grace time, and releases the Lease anyway", async () => {
    const controller = await withWorkInHand(60_000);
    // A sidecar that works would say that the change goes on.
    sidecar.signal("SIGSTOP");
    controller.signal("SIGTERM");
    expect(await controller.exit(40_000)).toEqual({ code: 0, signal: null });
    expect(controller.output).toMatch(/Reconcile canceled[^]*Leadership released[^]*Shutdown completed/);
    expect(await holderIdentity()).toBe("");
  });

  test("ends the process at once when it comes a second time", async () => {
    const controller = await withWorkInHand(60_000);
    controller.signal("SIGTERM");
    await controller.said(/INFO {2}Shutting down detail/);
    // One that follows within a moment is the same request.
    await eventually("the controller to end", 20_000, () => {
      if (controller.running) controller.signal("SIGTERM");
      return controller.running ? undefined : true;
    });
    expect(await controller.exit()).toEqual({ code: 143, signal: null });
    expect(await holderIdentity()).not.toBe("");
  });
});

describe("an uncaught exception", () => {
  test("is logged in one line and ends the process with its own exit code", async () => {
    const fault = `const timer = setInterval(() => {
      if (process.listenerCount("uncaughtException") === 0) return;
      clearInterval(timer);
      Promise.reject(new TypeError("x is undefined"));
    }, 100)`;
    const controller = harness.startController({
      args: ["--logging-format=json"],
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` },
    });
    expect(await controller.exit(30_000)).toEqual({ code: 70, signal: null });
    const line = controller.output.split("\n").find((text) => text.includes("Uncaught exception")) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({
      level: "error",
      origin: "unhandledRejection",
      err: { type: "TypeError", message: "x is undefined" },
    });
  });
});

test("/healthz?verbose lists each controller by its canonical name", async () => {
  const controller = harness.startController({ args: ["--controllers=*,-node-route-controller"] });
  const [, url] = await controller.said(/health=(http:\S+)/);
  const text = await eventually("the page", 20_000, async () => {
    const page = await fetch(`${url}/healthz?verbose`, { signal: AbortSignal.timeout(10_000) });
    return page.ok ? page.text() : undefined;
  });
  const names = text.split("\n").flatMap((line) => /^\[\+\](\S+) ok$/.exec(line)?.[1] ?? []);
  expect(names).toEqual([
    "ping",
    "leaderElection",
    "cloud-node-controller",
    "cloud-node-lifecycle-controller",
    "service-lb-controller",
    "controllers",
  ]);
});
