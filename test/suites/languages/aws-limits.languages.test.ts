import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at } from "../../support/kube.ts";
import type { AwsAccount } from "./support/aws-account.ts";
import { AwsCaller, idOf, reasonOf } from "./support/aws-caller.ts";
import type { EmulatedMachine } from "./support/emulated-cloud.ts";
import type { OwnAws } from "./support/own-aws.ts";

const START_MS = 120_000;
const PATIENCE_MS = 60_000;

let caller: AwsCaller;
let aws: OwnAws;
let account: AwsAccount;
let first: EmulatedMachine;
let second: EmulatedMachine;

beforeAll(async () => {
  caller = await AwsCaller.start();
  ({ aws } = caller);
  ({ account } = aws);
  first = await aws.cloud.run("us-east-1a");
  second = await aws.cloud.run("us-east-1b");
}, START_MS);
afterAll(() => caller[Symbol.asyncDispose]());

describe("under throttling the provider for AWS", () => {
  test("slows down, and never says that anything is gone", async () => {
    await account.throttle(4, 4);
    try {
      const nodes = [first, second].map((machine) => ({ name: "any", providerId: idOf(machine) }));
      const asked = Array.from({ length: 12 }, () => caller.lookUp(nodes).catch((error: unknown) => [reasonOf(error)]));
      const outcomes = (await Promise.all(asked)).flat().map(String);
      expect(outcomes.filter((outcome) => !["instance", "RATE_LIMITED"].includes(outcome))).toEqual([]);
      expect(await account.throttled()).toBeGreaterThan(0);
      const { rateLimits } = await caller.provider.getProviderStatus();
      expect(rateLimits.map(({ name }) => name)).toEqual(["ec2", "elasticloadbalancing"]);
    } finally {
      await account.throttle(0, 0);
    }
    await eventually("machines to be found again", PATIENCE_MS, async () => {
      const found = await caller.lookUp([{ name: "any", providerId: idOf(first) }]);
      return found[0] === "instance" ? true : undefined;
    });
  });

  test("says of a load balancer when to come again, and finishes it", async () => {
    await account.throttle(6, 6);
    const refusals: unknown[] = [];
    try {
      await eventually("the load balancer to be finished", PATIENCE_MS, async () => {
        const answer = await caller.ensure("slow").catch((error: unknown) => {
          refusals.push([reasonOf(error), Number(at(error, "retryAfterMs")) > 0]);
          return undefined;
        });
        return answer?.loadBalancer?.phase === 2 ? true : undefined;
      });
    } finally {
      await account.throttle(0, 0);
    }
    expect(refusals).toEqual(refusals.map(() => ["RATE_LIMITED", true]));
    await caller.remove("slow");
    expect(await account.orphans()).toEqual([]);
  });
});

describe("with many machines the provider for AWS", () => {
  test("finds 1,000 of 5,000 with at most five requests, and lists all of them page by page", async () => {
    const machines = await account.runMachines(aws.vpc, 5000);
    const listed = new Set<string>();
    const before = await account.calls("DescribeInstances");
    let pageToken = "";
    do {
      const page = await caller.provider.listInstances({ pageToken }, { deadlineMs: 300_000 });
      for (const { providerId } of page.instances) listed.add(providerId);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    const ids = machines.map(({ id }) => `aws:///us-east-1a/${id}`);
    expect(ids.filter((id) => !listed.has(id))).toEqual([]);
    // 1,000 machines are a page of AWS, and there are some more of the tests before.
    const after = await account.calls("DescribeInstances");
    expect(after - before).toBe(6);
    const nodes = machines.slice(0, 1000).map(({ name }) => ({ name }));
    const { results } = await caller.provider.batchGetInstances({ nodes }, { deadlineMs: 300_000 });
    expect(results.filter(({ outcome }) => outcome?.$case === "instance")).toHaveLength(1000);
    expect((await account.calls("DescribeInstances")) - after).toBeLessThanOrEqual(5);
  }, 900_000);
});
