import { expect, test } from "vitest";
import { capabilities, info, instanceCapabilities } from "../../test/support/provider-builders.ts";
import { infoChanges } from "./info-diff.ts";

test("infoChanges() is silent about a restart that changed nothing", () => {
  const diagnostics = [{ severity: "info", reason: "R", summary: "", detail: "", field: "", helpUrl: "" }] as const;
  expect(infoChanges(info({ bootId: "boot-1" }), info({ bootId: "boot-2", diagnostics }))).toEqual([]);
});

test("infoChanges() names each thing that came, went or changed", () => {
  const before = info({ version: "1.0.0", capabilities: { instances: instanceCapabilities() } });
  const after = info({
    version: "1.1.0",
    capabilities: {
      instances: undefined,
      loadBalancers: capabilities({ protocols: ["TCP", "UDP"], maxPorts: 50 }),
    },
  });
  const changes = infoChanges(before, after);
  expect(changes).toContainEqual({ path: "version", before: '"1.0.0"', after: '"1.1.0"' });
  expect(changes).toContainEqual({ path: "capabilities.instances.maxBatchSize", before: "200", after: undefined });
  expect(changes).toContainEqual({ path: "capabilities.loadBalancers.maxPorts", before: undefined, after: "50" });
  expect(changes).toContainEqual({
    path: "capabilities.loadBalancers.protocols",
    before: '["TCP"]',
    after: '["TCP","UDP"]',
  });
  expect(changes.map(({ path }) => path).filter((path) => path.startsWith("limits"))).toEqual([]);
});
