import { describe, expect, test } from "vitest";
import { capabilities, info, instanceCapabilities } from "../../../test/support/provider/provider-builders.ts";
import { HandshakeHistory, infoChanges } from "./handshake.ts";

test("HandshakeHistory keeps what each handshake changed, newest first, and answers the same", () => {
  const history = new HandshakeHistory();
  const first = info({ bootId: "boot-1", version: "1.0.0" });
  expect(history.record(first, 1000)).toEqual([]);
  const change = { path: "version", before: '"1.0.0"', after: '"2.0.0"' };
  const second = info({ bootId: "boot-2", version: "2.0.0" });
  expect(history.record(second, 2000)).toEqual([change]);
  expect(history.last).toBe(second);
  expect(history.records).toEqual([
    { atMs: 2000, version: "2.0.0", bootId: "boot-2", changes: ['version: "1.0.0" -> "2.0.0"'] },
    { atMs: 1000, version: "1.0.0", bootId: "boot-1", changes: [] },
  ]);
});

test("HandshakeHistory keeps the last ten", () => {
  const history = new HandshakeHistory();
  for (let atMs = 1; atMs <= 12; atMs++) history.record(info({ bootId: `boot-${atMs}` }), atMs);
  expect(history.records.map(({ atMs }) => atMs)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
});

describe("info diff", () => {
  test("infoChanges() is silent about a restart that changed nothing", () => {
    const diagnostics = [{ severity: "info", reason: "R", summary: "", detail: "", field: "", helpUrl: "" }] as const;
    expect(infoChanges(info({ bootId: "boot-1" }), info({ bootId: "boot-2", diagnostics }))).toEqual([]);
  });

  test("infoChanges() names each thing that came, went or changed, limits included", () => {
    const instances = instanceCapabilities();
    const before = info({
      version: "1.0.0",
      capabilities: { instances, routes: undefined, loadBalancers: capabilities({ protocols: ["TCP"], maxPorts: 50 }) },
      limits: { ...info().limits, maxConcurrentCalls: 16 },
    });
    const after = info({
      version: "1.1.0",
      capabilities: {
        instances: undefined,
        loadBalancers: capabilities({ protocols: ["TCP", "UDP"], maxPorts: undefined, maxNodes: 100 }),
      },
      limits: { ...info().limits, maxConcurrentCalls: 8 },
    });
    expect(infoChanges(before, after)).toEqual([
      { path: "capabilities.instances", before: JSON.stringify(instances), after: undefined },
      { path: "capabilities.loadBalancers.maxNodes", before: undefined, after: "100" },
      { path: "capabilities.loadBalancers.maxPorts", before: "50", after: undefined },
      { path: "capabilities.loadBalancers.protocols", before: '["TCP"]', after: '["TCP","UDP"]' },
      { path: "limits.maxConcurrentCalls", before: "16", after: "8" },
      { path: "version", before: '"1.0.0"', after: '"1.1.0"' },
    ]);
  });
});
