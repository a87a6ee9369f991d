import { describe, expect, test } from "vitest";
import { condition, snapshot, status } from "../../../test/support/explain/explain-builders.ts";
import type { HealthReasonName } from "../../provider/connection/health-reason.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { throttledCause, evaluateProvider, providerTroubles } from "./provider.ts";

const NOW_MS = 1_800_000_000_000;

function unwell(name: HealthReasonName, parts: Partial<ProviderSnapshot> = {}): ProviderSnapshot {
  return snapshot({ health: { ready: false, reasons: [{ name, message: "why" }] }, ...parts });
}

describe("evaluateProvider()", () => {
  test("finds no problems of a ready provider", () => {
    expect(evaluateProvider(snapshot(), NOW_MS)).toEqual({
      state: "ok",
      summary: "Provider east 1.2.3 is connected and ready.",
      causes: [],
      desired: [
        { description: "connected", state: "met" },
        { description: "cloud reachable", state: "met" },
      ],
    });
  });

  const throttled = {
    classes: ["load_balancers"],
    cloudCallsPerSecond: 5,
    burst: 5,
    tokens: 0,
    heldMs: 4200,
    waiting: { high: 0, low: 0 },
  } as const;
  const credentials = status({ ready: false, conditions: [condition("CredentialsValid", "False")] });
  const cloud = status({
    ready: false,
    conditions: [condition("CloudReachable", "False"), condition("CredentialsValid", "Unknown")],
  });

  test.each<{ what: string; of: ProviderSnapshot; state: string; reasons: readonly string[] }>([
    { what: "does not run", of: unwell("SocketMissing"), state: "waiting", reasons: ["ProviderUnavailable"] },
    { what: "is being restarted", of: unwell("ConnectionLost"), state: "waiting", reasons: ["ProviderUnavailable"] },
    {
      what: "is of another time",
      of: unwell("UnsupportedContract"),
      state: "blocked",
      reasons: ["ProviderHandshakeFailed"],
    },
    {
      what: "has a socket for others",
      of: unwell("SocketPermissionDenied"),
      state: "blocked",
      reasons: ["ProviderHandshakeFailed"],
    },
    {
      what: "works elsewhere than before",
      of: unwell("ScopeChanged"),
      state: "blocked",
      reasons: ["ProviderScopeChanged"],
    },
    {
      what: "has no credentials that the cloud takes",
      of: unwell("CloudNotReady", { status: credentials }),
      state: "blocked",
      reasons: ["InvalidCredentials"],
    },
    {
      what: "does not reach its cloud",
      of: unwell("CloudNotReady", { status: cloud }),
      state: "waiting",
      reasons: ["CloudUnavailable"],
    },
    {
      what: "is not ready for a reason of its own",
      of: unwell("CloudNotReady", { status: undefined }),
      state: "waiting",
      reasons: ["ProviderNotReady"],
    },
    {
      what: "has credentials that have expired",
      of: snapshot({ status: status({ credentialsExpireTimeMs: NOW_MS }) }),
      state: "blocked",
      reasons: ["InvalidCredentials"],
    },
    { what: "is throttled", of: snapshot({ budgets: [throttled] }), state: "waiting", reasons: ["Throttled"] },
  ])("of one that $what", ({ of, state, reasons }) => {
    const { causes, ...evaluated } = evaluateProvider(of, NOW_MS);
    expect({ state: evaluated.state, reasons: causes.map(({ reason }) => reason) }).toEqual({ state, reasons });
    expect(causes.every(({ remedy }) => remedy !== undefined)).toBe(true);
  });

  test("includes the circuit breaker of its Nodes", () => {
    const { state, causes } = evaluateProvider(snapshot(), NOW_MS, {
      open: true,
      absentNodes: 9,
      message: "9 of 10 Nodes",
    });
    expect({ state, messages: causes.map(({ message }) => message) }).toEqual({
      state: "blocked",
      messages: ["9 of 10 Nodes."],
    });
  });
});

test("providerTroubles() sorts problems that need manual intervention first", () => {
  const reasons = [
    { name: "ConnectionLost", message: "gone" },
    { name: "ScopeChanged", message: "elsewhere" },
  ] as const;
  const troubles = providerTroubles(snapshot({ health: { ready: false, reasons } }), NOW_MS);
  expect(troubles.map(({ reason, message }) => [reason, message])).toEqual([
    ["ProviderScopeChanged", "Provider east: elsewhere."],
    ["ProviderUnavailable", "Provider east: gone."],
  ]);
});

test("throttledCause() concerns the given quota class only", () => {
  const budget = { cloudCallsPerSecond: 5, burst: 5, tokens: 0, heldMs: 4200, waiting: { high: 0, low: 0 } };
  const held = snapshot({ budgets: [{ ...budget, classes: ["load_balancers"] }] });
  expect(throttledCause(held, "load_balancers")?.message).toBe(
    "Provider east: the cloud is throttling; calls of quota class load_balancers wait 5 s.",
  );
  expect(throttledCause(held, "instances")).toBeUndefined();
});
