import { test } from "vitest";
import { systemClock } from "../util/clock.ts";
import { NO_QUEUE_METRICS } from "./metrics.ts";
import type { Workqueue } from "./queue.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "./rate-limited-queue.ts";

const keys = Array.from({ length: 5000 }, (_, index) => `node-${index}`);
const never = new AbortController().signal;

test("workqueue", async ({ bench }) => {
  await bench.compare(
    bench("5,000 keys in line, worked off one after the other", () => withQueue(workOff)),
    bench("5,000 keys in line, 1,000 at once", () => withQueue((queue) => workOff(queue, 1000))),
    bench("5,000 keys to come back later", () => withQueue(comeBack)),
  );
});

async function withQueue(use: (queue: Workqueue) => Promise<void>): Promise<void> {
  const queue = createWorkqueue({
    clock: systemClock(),
    limiter: exponentialLimiter(DEFAULT_BACKOFF),
    metrics: NO_QUEUE_METRICS,
    subqueues: { of: () => "cloud", limit: 1000 },
  });
  await use(queue);
  queue.shutDown();
}

async function workOff(queue: Workqueue, atOnce = 1): Promise<void> {
  for (const key of keys) queue.add(key);
  const inWork: string[] = [];
  while (queue.depth > 0) {
    const item = await queue.get(never);
    if (item !== undefined) inWork.push(item.key);
    if (inWork.length === atOnce) for (const key of inWork.splice(0)) queue.done(key);
  }
  for (const key of inWork) queue.done(key);
}

async function comeBack(queue: Workqueue): Promise<void> {
  for (const key of keys) queue.addAfter(key, 300_000, { priority: "low" });
  for (const key of keys) queue.addAfter(key, 200_000);
}
