import { expect, test } from "vitest";
import { capabilities, info, instanceCapabilities } from "../../../test/support/provider-builders.ts";
import { infoChanges } from "./info-diff.ts";

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
