import { describe, expect, inject, test } from "vitest";
import { recordScenario } from "./replay/recordings.ts";
import { scenarios } from "./replay/scenarios/all.ts";
import { replay } from "./replay/stage.ts";
import { createTenant } from "./support/real-openstack.ts";

/** Writes test/suites/openstack/services/recordings, which CI plays to the provider in place of the services. */
describe("the provider for OpenStack, while it is recorded", () => {
  test.each(scenarios)("$name", async (scenario) => {
    const tenant = await createTenant(inject("openstack"));
    const recording = await recordScenario(scenario, tenant);
    expect(await tenant.orphans()).toEqual([]);
    expect(await replay(scenario, recording)).toEqual([]);
  });
});
