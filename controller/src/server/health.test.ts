import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { panicCounter } from "../runtime/metrics.ts";
import { SupervisedController } from "../runtime/supervised-controller.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { controllerChecks, controllersSummary, report } from "./health.ts";

const good = { name: "ping", problem: () => undefined };
const bad = { name: "provider", problem: () => "acme does not answer" };

describe("report()", () => {
  test("passes when no check fails", () => {
    expect(report("readyz", [good], [])).toEqual({ healthy: true, text: "[+]ping ok\nreadyz check passed\n" });
  });

  test("fails and says why when one check fails", () => {
    expect(report("readyz", [good, bad], [])).toEqual({
      healthy: false,
      text: "[+]ping ok\n[-]provider failed: acme does not answer\nreadyz check failed\n",
    });
  });

  test("passes with a warning that an operator should read", () => {
    const warned = { ...good, name: "provider-west", warning: () => "its socket is missing" };
    expect(report("readyz", [good, warned], [])).toEqual({
      healthy: true,
      text: "[+]ping ok\n[+]provider-west ok, but: its socket is missing\nreadyz check passed\n",
    });
  });

  test("withholds reasons from public endpoints", () => {
    const warned = { ...good, warning: () => "its socket is missing" };
    expect(report("readyz", [warned, bad], [], "withheld").text).toBe(
      "[+]ping ok\n[-]provider failed: reason withheld\nreadyz check failed\n",
    );
  });

  test("leaves excluded checks out and warns of names it does not know", () => {
    expect(report("livez", [good, bad], ["provider", "moon"])).toEqual({
      healthy: true,
      text: "[+]ping ok\nwarn: no such check: moon\nlivez check passed\n",
    });
  });
});

describe("controller health", () => {
  const RUNNING = "cloud-node-controller";
  const BROKEN = "node-route-controller";

  /** Broken ones after `afterMs`; of the others nothing runs yet. */
  async function controllers(broken: readonly string[], afterMs: number): Promise<readonly SupervisedController[]> {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const panics = panicCounter(new Metrics());
    const all = [RUNNING, BROKEN].map(
      (name) =>
        new SupervisedController({
          name,
          build: () => {
            throw new Error("x is undefined");
          },
          clock,
          random: () => 0,
          log: new FakeLog(),
          panics,
        }),
    );
    const { signal } = new AbortController();
    for (const controller of all) {
      if (broken.includes(controller.name)) void controller.run({ stop: signal, abort: signal });
    }
    await clock.advance(afterMs);
    return all;
  }

  async function healthOf(broken: readonly string[], afterMs: number): Promise<readonly string[]> {
    const all = await controllers(broken, afterMs);
    const checks = controllerChecks([RUNNING, BROKEN], () => all);
    return report("healthz", checks, []).text.split("\n");
  }

  const WARNING = "panicked (1 in a row), restarting at 2026-01-01T00:00:01.000Z: x is undefined";

  test("controllerChecks() lists each controller by its name", async () => {
    expect(await healthOf([], 0)).toEqual([
      "[+]cloud-node-controller ok",
      "[+]node-route-controller ok",
      "[+]controllers ok",
      "healthz check passed",
      "",
    ]);
  });

  test("controllerChecks() warns of a controller that panicked without failing", async () => {
    expect(await healthOf([BROKEN], 0)).toEqual([
      "[+]cloud-node-controller ok",
      `[+]node-route-controller ok, but: ${WARNING}`,
      "[+]controllers ok",
      "healthz check passed",
      "",
    ]);
  });

  test("controllerChecks() does not fail while it may still be an accident", async () => {
    expect(await healthOf([RUNNING, BROKEN], 7999)).toContain("[+]controllers ok");
  });

  test("controllerChecks() fails when all controllers panic repeatedly", async () => {
    expect(await healthOf([RUNNING, BROKEN], 15_000)).toContain(
      "[-]controllers failed: all controllers panic repeatedly: cloud-node-controller, node-route-controller; a restart may help",
    );
  });

  test("controllersSummary() names the broken ones", async () => {
    expect(controllersSummary(await controllers([BROKEN], 0))).toBe(`node-route-controller: ${WARNING}`);
    expect(controllersSummary(await controllers([], 0))).toBe("no panics");
  });
});
