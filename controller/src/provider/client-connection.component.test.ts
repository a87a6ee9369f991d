import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClientHarness, SERVICE } from "../../test/support/provider/client-harness.ts";
import { eventually } from "../../test/support/poll.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("without connection", () => {
  test("a change waits for a provider that is being restarted instead of failing", async () => {
    await world.start();
    await world.provider[Symbol.asyncDispose]();
    await eventually("the loss is noticed", () => !world.sidecar.health.ready);
    const deleted = world.sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read());
    await world.serve();
    expect(await deleted).toMatchObject({ done: true });
  });

  test("a call fails at once, saying why there is no connection", async () => {
    await world.start();
    await world.provider[Symbol.asyncDispose]();
    await eventually(
      "the provider is given up for now",
      () => world.sidecar.health.reasons[0]?.name === "SocketMissing",
    );
    const deleted = world.sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read());
    await expect(deleted).rejects.toMatchObject({
      code: "UNAVAILABLE",
      class: "TRANSIENT",
      message: expect.stringContaining(`${world.harness.socketPath} does not exist`),
    });
  });

  test("a call of a group that the provider does not support is refused here", async () => {
    await world.start();
    await expect(world.sidecar.client.listRoutes({ signal: world.harness.signal })).rejects.toMatchObject({
      reason: "CAPABILITY_ABSENT",
      class: "FINAL",
    });
  });
});
