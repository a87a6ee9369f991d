import { expect, test } from "vitest";
import { takeSlot } from "./slot.ts";

test("takeSlot() gives two demos different networks", async () => {
  const first = await takeSlot();
  const second = await takeSlot();
  first.release();
  second.release();
  expect(second.instancePool).not.toBe(first.instancePool);
  expect(second.loadBalancerPool).not.toBe(first.loadBalancerPool);
});
