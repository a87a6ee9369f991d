import { expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../../test/support/fake-log.ts";
import { LoadBalancerCloud } from "../../../../test/support/load-balancer-cloud.ts";
import { Inventory } from "./load-balancer-lister.ts";

const UID = "uid-default-web";

test("Inventory.peek() shows what was listed however late, take() only what is fresh, and once", async () => {
  const clock = new FakeClock();
  const inventory = new Inventory(clock);
  const cloud = new LoadBalancerCloud();
  const { signal } = new AbortController();
  const log = new FakeLog();
  const [provider, other] = [cloud.provider("a"), cloud.provider("b")];
  const service = { namespace: "default", name: "web", uid: UID };
  const kept = { id: "lb-1", service, version: 1, isTampered: false, isSeen: true };
  cloud.kept.set(UID, { ...kept, specFingerprint: "s", nodesFingerprint: "n", nodes: [] });
  const ask = async () => [
    (await inventory.peek(provider, UID, signal, log))?.id,
    (await inventory.take(other, UID, signal, log))?.id,
  ];
  expect(await ask()).toEqual(["lb-1", "lb-1"]);
  expect(await ask()).toEqual(["lb-1", undefined]);
  await clock.advance(61_000);
  expect([await inventory.peek(provider, UID, signal, log), await inventory.take(provider, UID, signal, log)]).toEqual([
    expect.objectContaining({ id: "lb-1" }),
    undefined,
  ]);
  expect(cloud.calls).toEqual(["list", "list"]);
});
