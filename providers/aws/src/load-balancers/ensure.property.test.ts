import type { DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tcp, wanted } from "../test/desired.ts";
import { awsError, listOf, textOf } from "../test/fields.ts";
import { nodesOf, startWorld, type World } from "../test/world.ts";

const ranges = ["10.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24", "2001:DB8::/32"];

const desired: fc.Arbitrary<DesiredLoadBalancer> = fc
  .record({
    sourceRanges: fc.subarray(ranges),
    nodes: fc.subarray([1, 2, 3, 4], { minLength: 1 }).map((numbers) => nodesOf(...numbers)),
    nodePort: fc.constantFrom(30_080, 30_081),
    others: fc.subarray([443, 8080]),
    annotations: fc.record(
      {
        "healthcheck-interval": fc.constantFrom("10", "20"),
        "healthcheck-timeout": fc.constantFrom("5", "6"),
        "proxy-protocol": fc.constant("*"),
        "cross-zone-load-balancing-enabled": fc.constantFrom("true", "false"),
        "connection-idle-timeout": fc.constantFrom("350", "600"),
        "additional-resource-tags": fc.constantFrom("team=blue", "team=red,cost=7"),
        subnets: fc.constantFrom("subnet-1", "subnet-1,subnet-2"),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ nodePort, others, annotations, ...more }) =>
    wanted(annotations, {
      ...more,
      ports: [tcp(80, nodePort), ...others.map((port) => tcp(port))],
      ipFamilies: ["IPv4", "IPv6"],
      specFingerprint: JSON.stringify([nodePort, others, annotations, more.sourceRanges]),
      nodesFingerprint: JSON.stringify(more.nodes),
    }),
  );

const failure = fc.record({
  /** The how manieth request fails. */
  index: fc.integer({ min: 0, max: 40 }),
  when: fc.constantFrom("before", "after"),
  error: fc.constantFrom(
    awsError("InternalError", "AWS is broken", 500),
    awsError("Throttling"),
    Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  ),
});

const quotas = fc.record({ rules: fc.constantFrom(24, 60), targets: fc.constantFrom(4, 1000) });

/** Whether a client reaches port 80 of a machine: an open range, a listener and a target. */
const isServed = ({ aws }: World): boolean => {
  const [balancer] = aws.elb.all("LoadBalancer");
  const groupIds = balancer?.details["SecurityGroups"];
  const isOpen = [...aws.ec2.groups.values()].some(
    ({ id, rules }) =>
      Array.isArray(groupIds) && groupIds.includes(id) && [...rules].some((rule) => rule.startsWith("tcp|80|80|")),
  );
  const listener = aws.elb.all("Listener").find(({ details }) => details["Port"] === 80);
  const group = aws.elb.objects.get(textOf(listOf(listener?.details["DefaultActions"])[0]?.["TargetGroupArn"]));
  return isOpen && group !== undefined && group.targets.size > 0;
};

const sorted = (map: ReadonlyMap<string, string>) => [...map].map((pair) => pair.join("=")).toSorted();

/** All that AWS has, without IDs and the numbers in them. */
const stateOf = ({ aws }: World): readonly unknown[] =>
  [
    ...[...aws.elb.objects.values()].map(({ kind, details, tags, attributes, targets }) => {
      const { Port, Protocol, IpAddressType, AvailabilityZones, TargetGroupName, LoadBalancerName } = details;
      const { HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds } = details;
      const facts = { Port, Protocol, IpAddressType, AvailabilityZones, TargetGroupName, LoadBalancerName };
      const maps = {
        tags: sorted(tags),
        attributes: sorted(attributes),
        targets: [...targets].toSorted(),
      };
      return JSON.stringify({ kind, ...facts, HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, ...maps });
    }),
    ...[...aws.ec2.groups.values()].map(({ name, tags, rules }) =>
      JSON.stringify({ name, tags: sorted(tags), rules: [...rules].toSorted() }),
    ),
  ].toSorted();

const startWith = async (first: DesiredLoadBalancer, quota: { rules: number; targets: number }): Promise<World> => {
  const world = startWorld();
  world.aws.ec2.rulesQuota = quota.rules;
  world.aws.elb.targetQuota = quota.targets;
  await world.handlers.ensure(first, world.context);
  return world;
};

interface Change {
  readonly spec: DesiredLoadBalancer;
  readonly failures: readonly { readonly index: number; readonly when: "before" | "after"; readonly error: Error }[];
}

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({ spec: desired, failures: fc.array(failure, { maxLength: 3 }) }),
  { minLength: 1, maxLength: 3 },
);

/** Makes the changes, some requests of which fail, and finally the last one without failures. */
const change = async ({ aws, handlers, context }: World, all: readonly Change[], last: DesiredLoadBalancer) => {
  for (const { spec, failures } of all) {
    const start = aws.requests.length;
    aws.failureOf = () => failures.find(({ index }) => index === aws.requests.length - start - 1);
    await Promise.resolve(handlers.ensure(spec, context)).catch((error: unknown) => {
      if (error instanceof Error && error.name === "AssertionError") throw error;
    });
  }
  aws.failureOf = () => undefined;
  await handlers.ensure(last, context);
};

test("ensure() never cuts all traffic, whichever requests fail, and reaches the same state as without failures (case S-3)", async () => {
  await fc.assert(
    fc.asyncProperty(desired, changes, desired, quotas, async (first, all, last, quota) => {
      const world = await startWith(first, quota);
      world.aws.onChange = (name) => expect(isServed(world), `after ${name}`).toBe(true);
      await change(world, all, last);
      expect(stateOf(world)).toEqual(stateOf(await startWith(last, quota)));
      const before = world.aws.changes().length;
      await world.handlers.ensure(last, world.context);
      expect(world.aws.changes().slice(before)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("ensure() completes what interrupted calls have begun, and leaves nothing else of them", async () => {
  await fc.assert(
    fc.asyncProperty(changes, desired, async (all, last) => {
      const world = startWorld();
      await change(world, all, last);
      expect(stateOf(world)).toEqual(stateOf(await startWith(last, { rules: 60, targets: 1000 })));
    }),
    { numRuns: 40 },
  );
});
