import { afterAll, beforeAll, expect, test } from "vitest";
import { poll } from "../test/poll.ts";
import { soon, startTestCloud, type TestCloud } from "../test/test-cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(async () => cloud.close());

const operation = "volumes.create";

const create = async (name: string, signal: AbortSignal) =>
  cloud.client.createVolume({ name, zone: "north-a", sizeGiB: 1 }, signal).then(
    () => "made",
    () => "aborted",
  );

const inFlight = async (count: number) =>
  poll(`${count} calls in flight`, async () => {
    const { operations } = await cloud.admin.calls();
    return operations.some((each) => each.operation === operation && each.inFlight === count) || undefined;
  });

test("the cloud serves so many calls of a kind at once, and never carries out what had no turn", async () => {
  await cloud.admin.change({ concurrency: { "volumes.*": 1 } });
  await cloud.admin.addFault({ kind: "hang", phase: "after", operation, count: 1 });
  const [served, waiting] = [new AbortController(), new AbortController()];
  const first = create("first", served.signal);
  await inFlight(1);
  const second = create("second", waiting.signal);
  const third = create("third", soon());
  await inFlight(3);
  waiting.abort();
  await inFlight(2);
  served.abort();
  expect(await Promise.all([first, second, third])).toEqual(["aborted", "aborted", "made"]);
  const { items } = await cloud.client.listVolumes({ consistent: true }, soon());
  expect(items.map(({ name }) => name).toSorted()).toEqual(["first", "third"]);
});
