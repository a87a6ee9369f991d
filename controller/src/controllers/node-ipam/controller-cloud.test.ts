import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IpamHarness, ranges } from "../../../test/support/node/ipam-harness.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";

const CLOUD = { ...ranges([]), cidrAllocatorType: "CloudAllocator" } as const;
const MINUTE_MS = 60_000;

let world: IpamHarness;
beforeEach(() => {
  world = new IpamHarness();
});
afterEach(() => world.stop());

describe("node-ipam with the cloud's ranges", () => {
  test("writes what the cloud says, once, and does not query again", async () => {
    world.says.set("a", ["10.128.1.0/24", "fd52:0:0:1::/64"]);
    world.node("a");
    world.start(CLOUD);
    await world.clock.advance(0);
    world.node("a", world.rangesOf("a"), { uid: "uid-1", labels: { x: "y" } });
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.patches.map(({ patch }) => patch)).toEqual([
      {
        kind: "strategic",
        body: {
          metadata: { uid: "uid-1" },
          spec: { podCIDR: "10.128.1.0/24", podCIDRs: ["10.128.1.0/24", "fd52:0:0:1::/64"] },
        },
      },
    ]);
    expect([world.asked, world.events]).toEqual([["a"], []]);
  });

  test("changes nothing on a Node that has ranges, and does not ask about it", async () => {
    world.says.set("a", ["10.128.1.0/24"]);
    world.node("a", ["10.0.0.0/24"]);
    world.start(CLOUD);
    await world.clock.advance(10 * MINUTE_MS);
    expect([world.patches, world.asked]).toEqual([[], []]);
  });

  test("does not write again before the cache shows the write", async () => {
    world.says.set("a", ["10.128.1.0/24"]);
    world.node("a");
    world.isLagging = true;
    world.start(CLOUD);
    await world.clock.advance(0);
    world.providerReady();
    await world.clock.advance(MINUTE_MS);
    expect([world.patches.length, world.asked]).toEqual([1, ["a"]]);
  });

  test("says why there is none, and writes it when there is", async () => {
    world.says.set("a", []);
    world.start(CLOUD);
    world.node("a");
    await world.clock.advance(0);
    expect(world.events).toEqual([
      "a: Normal CIDRNotAvailable Node a status is now: CIDRNotAvailable: the cloud has not allocated a pod CIDR yet",
    ]);
    world.says.set("a", ["10.128.1.0/24"]);
    await world.clock.advance(2000);
    expect(world.rangesOf("a")).toEqual(["10.128.1.0/24"]);
  });

  test("asks less and less often while there is none", async () => {
    world.says.set("a", undefined);
    world.start(CLOUD);
    world.node("a");
    await world.clock.advance(30 * MINUTE_MS);
    expect(world.asked.length).toBeGreaterThan(9);
    expect(world.asked.length).toBeLessThan(16);
  });

  test.each([
    { sentence: "its back-off", error: new ProviderError({ code: "UNAVAILABLE", message: "down" }), waitMs: 1000 },
    {
      sentence: "the provider's spec",
      error: contractError("RATE_LIMITED", "429", { retryAfterMs: 20_000 }),
      waitMs: 20_000,
    },
    { sentence: "an operator", error: contractError("CLOUD_CREDENTIALS_INVALID", "no key"), waitMs: MINUTE_MS },
  ])("waits for $sentence after a failure, without event", async ({ error, waitMs }) => {
    world.says.set("a", error);
    world.start(CLOUD);
    world.node("a");
    await world.clock.advance(waitMs - 100);
    expect([world.asked, world.events]).toEqual([["a"], []]);
    world.says.set("a", ["10.128.1.0/24"]);
    await world.clock.advance(200);
    expect(world.rangesOf("a")).toEqual(["10.128.1.0/24"]);
  });

  test("asks again at once when a provider becomes usable", async () => {
    world.says.set("a", contractError("CLOUD_CREDENTIALS_INVALID", "no key"));
    world.node("a");
    world.start(CLOUD);
    await world.clock.advance(0);
    world.providerReady();
    await world.clock.advance(0);
    expect(world.asked).toEqual(["a", "a"]);
  });

  test.each(["notOwned", "absent"] as const)("writes and says nothing when the machine is %s", async (said) => {
    world.says.set("a", said);
    world.start(CLOUD);
    world.node("a");
    await world.clock.advance(MINUTE_MS);
    expect([world.patches, world.events]).toEqual([[], []]);
  });
});
