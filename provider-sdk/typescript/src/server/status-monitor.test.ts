import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CloudFetcher } from "../cloud/cloud-fetch.ts";
import type { BackgroundContext } from "../definition/call-context.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import { ProviderError } from "../results/errors.ts";
import { createLogger } from "../telemetry/log.ts";
import { systemClock } from "../util/clock.ts";
import { defaultIntervals, StatusMonitor } from "./status-monitor.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const setUp = (check: ProviderDefinition["check"], scope: ProviderDefinition["scope"] = "acct-1") => {
  const logged: string[] = [];
  const monitor = new StatusMonitor({
    definition: { check, scope },
    bootId: "boot-1",
    log: createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date() }),
    clock: systemClock,
    cloudCalled: () => undefined,
    cloud: new CloudFetcher({ clock: systemClock, random: () => 0, transport: fetch }),
    ...defaultIntervals,
  });
  const conditions = () =>
    Object.fromEntries(monitor.status().conditions.map(({ type, status, reason }) => [type, [status, reason]]));
  return { monitor, conditions, logged };
};

const unavailable = new ProviderError("CLOUD_UNAVAILABLE", "no route to the cloud");

describe("StatusMonitor", () => {
  test("is not ready before the first check, and checks every 60 s after a good one", async () => {
    const check = vi.fn();
    const { monitor, conditions } = setUp(check);
    expect([monitor.ready, conditions()]).toEqual([
      false,
      { CloudReachable: [0, "NotChecked"], CredentialsValid: [0, "NotChecked"] },
    ]);
    await monitor.start();
    expect([monitor.ready, conditions()]).toEqual([
      true,
      { CloudReachable: [1, "CloudAnswered"], CredentialsValid: [1, "CloudAnswered"] },
    ]);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(check).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(check).toHaveBeenCalledTimes(2);
    await monitor.stop();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(check).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["an outage", unavailable, { CloudReachable: [2, "CloudUnavailable"], CredentialsValid: [0, "NotChecked"] }],
    [
      "refused credentials",
      Object.assign(new Error("no"), { status: 401 }),
      { CloudReachable: [0, "NotChecked"], CredentialsValid: [2, "CredentialsRefused"] },
    ],
    [
      "anything else",
      new TypeError("bug"),
      { CloudReachable: [2, "CheckFailed"], CredentialsValid: [0, "NotChecked"] },
    ],
  ])("is not ready after %s, and checks every 10 s", async (_title, error, expected) => {
    const check = vi.fn(() => Promise.reject(error));
    const { monitor, conditions } = setUp(check);
    await monitor.start();
    expect([monitor.ready, conditions()]).toEqual([false, expected]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(check).toHaveBeenCalledTimes(2);
    await monitor.stop();
  });

  test("aborts a check after 10 s through its signal", async () => {
    const seen: BackgroundContext[] = [];
    const { monitor } = setUp((context) => {
      seen.push(context);
      return new Promise<void>(() => undefined);
    });
    const started = monitor.start();
    // AbortSignal.timeout is not a fake timer: the signal is checked for being given, the rest by the wait below.
    expect(seen[0]?.signal.aborted).toBe(false);
    await monitor.stop();
    await started;
    expect(seen[0]?.signal.aborted).toBe(true);
  });

  test("brings the next check forward when a real call fails, and is ready again when one succeeds", async () => {
    const check = vi.fn();
    const { monitor } = setUp(check);
    await monitor.start();
    monitor.observe({ kind: "failure", error: unavailable });
    expect(monitor.ready).toBe(false);
    monitor.observe({ kind: "success" });
    expect(monitor.ready).toBe(true);
    monitor.observe({ kind: "failure", error: unavailable });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(check).toHaveBeenCalledTimes(2);
    expect(monitor.ready).toBe(true);
    await monitor.stop();
  });

  test("does not report the cloud unavailable after the failure of one object", async () => {
    const { monitor } = setUp(() => undefined);
    await monitor.start();
    for (const reason of ["QUOTA_EXCEEDED", "RATE_LIMITED", "ZONE_UNREACHABLE", "NOT_READY"] as const)
      monitor.observe({ kind: "failure", error: new ProviderError(reason, "one object") });
    expect(monitor.ready).toBe(true);
    await monitor.stop();
  });

  test("learns the scope from the cloud, and shouts when it changes", async () => {
    const scopes = ["acct-1", "acct-1", "acct-2"];
    const { monitor, logged } = setUp(
      () => undefined,
      () => scopes.shift() ?? "acct-2",
    );
    expect(monitor.scopeId).toBeUndefined();
    await monitor.start();
    expect(monitor.status()).toMatchObject({ scopeId: "acct-1", ready: true });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(logged).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(monitor.status().scopeId).toBe("acct-2");
    expect(logged).toEqual([expect.stringContaining("The scope has changed")]);
    await monitor.stop();
  });

  test.each([
    ["throws", () => Promise.reject(unavailable)],
    ["names nothing", () => ""],
    ["names more than the contract takes", () => "x".repeat(254)],
  ])("keeps the scope it knows when scope() %s, and is not ready", async (_title, later) => {
    const answers: (() => string | Promise<string>)[] = [() => "acct-1", later];
    const { monitor } = setUp(
      () => undefined,
      () => (answers.shift() ?? later)(),
    );
    await monitor.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(monitor.status()).toMatchObject({ scopeId: "acct-1", ready: false });
    await monitor.stop();
  });

  test("passes on what the check found, conditions included", async () => {
    const expires = new Date(2_000_000);
    const { monitor, conditions } = setUp(() => ({
      conditions: [
        { type: "QuotaLow", status: true, reason: "NearLimit" },
        { type: "CredentialsValid", status: false, reason: "ExpiresSoon" },
      ],
      credentialsExpireTime: expires,
      configRevision: "7",
      rateLimits: [{ name: "read", limit: 100, remaining: 3 }],
    }));
    await monitor.start();
    expect(monitor.status()).toMatchObject({
      ready: false,
      configRevision: "7",
      credentialsExpireTime: expires,
      rateLimits: [{ name: "read", limit: 100n, remaining: 3n }],
    });
    expect(conditions()).toMatchObject({ QuotaLow: [1, "NearLimit"], CredentialsValid: [2, "ExpiresSoon"] });
    await monitor.stop();
  });

  test("keeps the time of a condition's last change", async () => {
    const { monitor } = setUp(() => undefined);
    await monitor.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(monitor.status().conditions[0]?.lastTransitionTime).toEqual(new Date(1_000_000));
    expect(monitor.status().lastCloudSuccessTime).toEqual(new Date(1_060_000));
    await monitor.stop();
  });
});
