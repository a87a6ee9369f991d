import { expect, test } from "vitest";
import { info as providerInfo } from "../../../test/support/provider-builders.ts";
import { HandshakeHistory } from "../../provider/connection/handshake-history.ts";
import { debugProviders } from "./debug-providers.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

test("debugProviders() shows a provider that is away and one whose cloud throttles", () => {
  const info = providerInfo();
  const handshakes = new HandshakeHistory();
  handshakes.note(info, NOW_MS - 2000);
  handshakes.note({ ...info, bootId: "boot-2", limits: { ...info.limits, maxConcurrentCalls: 5 } }, NOW_MS - 1000);
  const unlimited = { cloudCallsPerSecond: undefined, burst: undefined, tokens: undefined, heldMs: 0 };
  const none = { high: 0, low: 0 };
  const away = { name: "Connecting", message: "no answer to the handshake yet" } as const;
  const shown = debugProviders(
    [
      {
        name: "west",
        address: "unix:///west.sock",
        connection: "connecting",
        health: { ready: false, reasons: [away] },
        warnings: [],
        info: undefined,
        handshakes: [],
        status: undefined,
        scopeChange: undefined,
        doubt: "not connected",
        budgets: [{ classes: ["routes"], ...unlimited, waiting: none }],
        calls: { inFlight: 0, waiting: 0, limit: 1 },
      },
      {
        name: "east",
        address: "unix:///east.sock",
        connection: "ready",
        health: { ready: true, reasons: [] },
        warnings: ["plaintext"],
        info,
        handshakes: handshakes.records,
        status: {
          ready: true,
          bootId: "boot-2",
          scopeId: "project-1",
          configRevision: "7",
          conditions: [
            {
              type: "CloudReachable",
              status: "True",
              reason: "Reached",
              message: "",
              lastTransitionTimeMs: 1_799_999_000_000,
            },
          ],
          lastCloudSuccessTimeMs: NOW_MS,
          credentialsExpireTimeMs: undefined,
          rateLimits: [{ name: "reads", limit: 10, remaining: 3, resetTimeMs: NOW_MS }],
          receivedAtMs: NOW_MS,
        },
        scopeChange: { confirmed: "project-1", current: "project-2", remedy: "it is accepted" },
        doubt: undefined,
        budgets: [
          {
            classes: ["instances", "routes"],
            cloudCallsPerSecond: 2.5049,
            burst: 1,
            tokens: -3.3333,
            heldMs: 2000,
            waiting: { high: 1, low: 2 },
          },
        ],
        calls: { inFlight: 2, waiting: 1, limit: 16 },
      },
    ],
    NOW_MS,
  );
  const at = (beforeMs: number) => new Date(NOW_MS - beforeMs).toISOString();
  expect(JSON.parse(JSON.stringify(shown))).toEqual([
    {
      name: "west",
      address: "unix:///west.sock",
      connection: "connecting",
      ready: false,
      reasons: [away],
      warnings: [],
      recentHandshakes: [],
      absenceDoubt: "not connected",
      calls: { inFlight: 0, waiting: 0, limit: 1 },
      budgets: [{ classes: ["routes"], waiting: none }],
    },
    {
      name: "east",
      address: "unix:///east.sock",
      connection: "ready",
      ready: true,
      reasons: [],
      warnings: ["plaintext"],
      handshake: {
        name: info.name,
        version: info.version,
        bootId: info.bootId,
        contract: `1.${info.contractMinor}`,
        scope: "project-1",
        providerIdPrefixes: ["acme://"],
        limits: info.limits,
      },
      recentHandshakes: [
        { at: at(1000), version: info.version, bootId: "boot-2", changes: ["limits.maxConcurrentCalls: 16 -> 5"] },
        { at: at(2000), version: info.version, bootId: info.bootId, changes: [] },
      ],
      status: {
        at: at(0),
        ready: true,
        configRevision: "7",
        conditions: [
          {
            type: "CloudReachable",
            status: "True",
            reason: "Reached",
            message: "",
            lastTransition: new Date(1_799_999_000_000).toISOString(),
          },
        ],
        lastCloudSuccess: at(0),
        rateLimits: [{ name: "reads", limit: 10, remaining: 3, reset: at(0) }],
      },
      scopeDoubt: { confirmed: "project-1", current: "project-2", remedy: "it is accepted" },
      calls: { inFlight: 2, waiting: 1, limit: 16 },
      budgets: [
        {
          classes: ["instances", "routes"],
          cloudCallsPerSecond: 2.5,
          burst: 1,
          tokens: -3.33,
          heldUntil: at(-2000),
          waiting: { high: 1, low: 2 },
        },
      ],
    },
  ]);
});
