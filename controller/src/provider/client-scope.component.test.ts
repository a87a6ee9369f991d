import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { absentAll, ClientHarness, refs, SERVICE } from "../../test/support/provider/client-harness.ts";
import { eventually } from "../../test/support/poll.ts";
import { providerInfo, providerStatus } from "../../test/support/provider/scripted-provider.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("scope", () => {
  test("a provider in another scope than before changes nothing and is believed no absence, until it is back", async () => {
    await world.start(
      { batchGetInstances: (request) => ({ ...absentAll(request), scopeId: "project-2" }) },
      {
        timing: { statusReadyMs: 20, statusNotReadyMs: 20 },
      },
    );
    world.provider.script.getProviderInfo = () => providerInfo({ scopeId: "project-2", bootId: "boot-2" });
    world.provider.script.getProviderStatus = () => providerStatus({ scopeId: "project-2", bootId: "boot-2" });
    await eventually(
      "the new scope is known",
      () => world.sidecar.scopeChange !== undefined && world.sidecar.health.ready,
    );
    expect(world.sidecar.scopeChange).toMatchObject({ confirmed: "project-1", current: "project-2" });
    expect(world.sidecar.health.reasons).toMatchObject([{ name: "ScopeChanged" }]);
    const deleted = world.sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read());
    await expect(deleted).rejects.toMatchObject({ reason: "SCOPE_MISMATCH", class: "OPERATOR" });
    expect(world.provider.callsOf("deleteLoadBalancer")).toHaveLength(0);
    expect(await world.sidecar.client.getInstances(refs(1), world.read())).toMatchObject([
      { kind: "unknown", error: { reason: "SCOPE_MISMATCH" } },
    ]);
    expect(world.sidecar.health.reasons[0]?.message).toContain("a restart of the controller confirms");
    world.provider.script.getProviderInfo = () => providerInfo({ bootId: "boot-3" });
    world.provider.script.getProviderStatus = () => providerStatus({ bootId: "boot-3" });
    world.provider.script.batchGetInstances = absentAll;
    await eventually(
      "the first scope is back",
      () => world.sidecar.scopeChange === undefined && world.sidecar.health.ready,
    );
    expect(
      await world.sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read()),
    ).toMatchObject({
      done: true,
    });
    expect(await world.sidecar.client.getInstances(refs(1), world.read())).toMatchObject([{ kind: "absent" }]);
  });
});
