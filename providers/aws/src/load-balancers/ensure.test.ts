import type { DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { describe, expect, test } from "vitest";
import { tcp, wanted } from "../test/desired.ts";
import { machineId, nodesOf, startWorld, type World } from "../test/world.ts";

type Annotations = Readonly<Record<string, string>>;

const ensure = async (
  { handlers, context }: World,
  more: Partial<DesiredLoadBalancer> = {},
  annotations: Annotations = {},
) =>
  handlers.ensure(
    wanted(annotations, { specFingerprint: JSON.stringify([more, annotations]).slice(-40), ...more }),
    context,
  );

/** The ranges that may reach TCP port 80, in AWS' spelling. */
const openTo = ({ aws }: World): readonly string[] =>
  [...aws.ec2.groups.values()]
    .flatMap(({ rules }) => [...rules])
    .flatMap((rule) => (rule.startsWith("tcp|80|80|") ? [rule.slice(10)] : []))
    .toSorted();

const targets = ({ aws }: World): readonly string[] =>
  aws.elb
    .all("TargetGroup")
    .flatMap((group) => [...group.targets])
    .toSorted();

/** User tags of each object, by its kind. */
const tagsOf = ({ aws }: World): Readonly<Record<string, unknown>> => {
  const ofUser = (tags: ReadonlyMap<string, string>) =>
    Object.fromEntries(
      [...tags].filter(([key]) => !key.startsWith("cloudwire.dev/") && !key.startsWith("kubernetes.io/")),
    );
  return {
    ...Object.fromEntries([...aws.elb.objects.values()].map(({ kind, tags }) => [kind, ofUser(tags)])),
    SecurityGroup: ofUser([...aws.ec2.groups.values()][0]?.tags ?? new Map()),
  };
};

/** The smallest number of entries after each of the changes that follow. */
const leastAfterChanges = (world: World, read: (world: World) => readonly string[]): (() => number) => {
  const counts: number[] = [];
  world.aws.onChange = () => counts.push(read(world).length);
  return () => Math.min(...counts);
};

const ranges = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `10.${from}.${index}.0/24`);

describe("source ranges", () => {
  test.each([
    ["IPv6 in capitals", ["2001:DB8:0:0::/32"], ["2001:db8::/32"]],
    ["IPv6 in full", ["2001:0db8:0000::/32"], ["2001:db8::/32"]],
    ["IPv6 with host bits", ["2001:db8::1/32"], ["2001:db8::/32"]],
    ["IPv4 with host bits", ["192.0.2.7/24"], ["192.0.2.0/24"]],
    ["one range in two spellings", ["2001:db8::/32", "2001:DB8::/32", "10.0.0.0/8"], ["10.0.0.0/8", "2001:db8::/32"]],
  ])("stay open when another setting changes: %s (case S-1)", async (_, sourceRanges, expected) => {
    const world = startWorld();
    const desired = { sourceRanges, ipFamilies: ["IPv4", "IPv6"] as const };
    const made = await ensure(world, desired);
    expect(openTo(world)).toEqual(expected);
    await ensure(world, desired, { "healthcheck-timeout": "7" });
    expect(openTo(world)).toEqual(expected);
    const before = world.aws.changes().length;
    const again = await ensure(world, desired, { "healthcheck-timeout": "7" });
    expect(world.aws.changes().slice(before)).toEqual([]);
    expect(made).toHaveProperty("observedFingerprint");
    expect(again).toMatchObject({ phase: "ACTIVE" });
  });

  test("are all there when another client has added one of them meanwhile (case S-1)", async () => {
    const world = startWorld();
    await ensure(world, { sourceRanges: ["10.0.0.0/8"] });
    world.aws.failureOf = (name) => {
      if (name === "AuthorizeSecurityGroupIngress") {
        world.aws.failureOf = () => undefined;
        for (const { rules } of world.aws.ec2.groups.values()) rules.add("tcp|80|80|10.2.0.0/16");
      }
      return undefined;
    };
    await ensure(world, { sourceRanges: ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"] });
    expect(openTo(world)).toEqual(["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"]);
  });

  test.each([
    [1, 1, 2],
    [25, 25, 60],
    [30, 30, 60],
    [15, 30, 60],
    [30, 10, 60],
  ])(
    "%i are exchanged for %i others at a quota of %i rules, and some are always open (case S-3)",
    async (before, after, quota) => {
      const world = startWorld();
      world.aws.ec2.rulesQuota = quota;
      await ensure(world, { sourceRanges: ranges(1, before) });
      const least = leastAfterChanges(world, openTo);
      await ensure(world, { sourceRanges: ranges(2, after) });
      expect(openTo(world)).toEqual([...ranges(2, after)].toSorted());
      expect(least()).toBeGreaterThanOrEqual(Math.min(before - 1, 1));
    },
  );

  test("stay as they are when the new ones can never fit, with the quota as the reason (case S-3)", async () => {
    const world = startWorld();
    world.aws.ec2.rulesQuota = 10;
    await ensure(world, { sourceRanges: ranges(1, 5) });
    await expect(ensure(world, { sourceRanges: [...ranges(1, 5), ...ranges(2, 1)] })).rejects.toMatchObject({
      reason: "QUOTA_EXCEEDED",
    });
    expect(openTo(world)).toEqual([...ranges(1, 5)].toSorted());
  });
});

test("no tagged subnet is a mistake of the operator, and the message has the tag (case S-8)", async () => {
  const world = startWorld();
  for (const tags of world.aws.ec2.subnets.values()) tags.clear();
  const message = expect.stringContaining("has the tag kubernetes.io/role/elb=1: tag one in each zone");
  await expect(ensure(world)).rejects.toMatchObject({ reason: "CLOUD_SETUP_INVALID", message });
});

test("a check without changes plans nothing for what is as wanted", async () => {
  const world = startWorld();
  await ensure(world, { nodes: nodesOf(1, 2) });
  await ensure({ ...world, context: { ...world.context, validateOnly: true } }, { nodes: nodesOf(1, 2) });
  expect(world.planned).toEqual([]);
});

describe("targets", () => {
  test.each([
    [[1, 2], [1, 3], 2],
    [[1, 2, 3, 4], [5, 6, 7, 8], 4],
    [[1, 2], [3, 4, 5], 3],
    [[1], [2], 1],
  ])("%j become %j at a quota of %i (case S-3)", async (before, after, quota) => {
    const world = startWorld();
    world.aws.elb.targetQuota = quota;
    await ensure(world, { nodes: nodesOf(...before) });
    const least = leastAfterChanges(world, targets);
    await ensure(world, { nodes: nodesOf(...after) });
    expect(targets(world)).toEqual(after.map(machineId));
    expect(least()).toBeGreaterThanOrEqual(Math.min(before.length - 1, 1));
  });

  test("of a request that AWS refuses for one of them are registered without it (case S-10)", async () => {
    const world = startWorld();
    world.aws.failureOf = (name) => {
      const machine = world.aws.ec2.machines.get(machineId(2));
      if (name === "RegisterTargets" && machine) machine.state = "stopped";
      return undefined;
    };
    const answer = await ensure(world, { nodes: nodesOf(1, 2, 3) });
    expect(targets(world)).toEqual([machineId(1), machineId(3)]);
    expect(answer).toMatchObject({ registeredNodes: 2, nodesFingerprint: "", unregisteredNodes: [{ name: "node-2" }] });
  });
});

describe("nodes whose instance cannot be a target yet", () => {
  const setState = ({ aws }: World, number: number, state: "running" | "stopped"): void => {
    const machine = aws.ec2.machines.get(machineId(number));
    if (machine) machine.state = state;
  };

  test("are named until they are targets, by ensure() and by updateNodes() (case S-2)", async () => {
    const world = startWorld();
    setState(world, 2, "stopped");
    const desired = { nodes: nodesOf(1, 2, 10), nodesFingerprint: "nodes-1" };
    const unregisteredNodes = [
      { name: "node-2", providerId: `aws:///zone-a/${machineId(2)}`, reason: "InstanceNotRunning" },
      { name: "node-10", reason: "InstanceNotFound" },
    ];
    const partial = { registeredNodes: 1, nodesFingerprint: "", unregisteredNodes };
    expect(await ensure(world, desired)).toMatchObject(partial);
    const update = () => world.handlers.updateNodes?.(wanted({}, desired), world.context);
    expect(await update()).toMatchObject(partial);
    expect(await world.handlers.get?.(wanted(), world.context)).toMatchObject({ nodesFingerprint: "" });
    setState(world, 2, "running");
    world.aws.ec2.machines.set(machineId(10), { id: machineId(10), state: "running", groups: [] });
    expect(await update()).toMatchObject({ registeredNodes: 3, nodesFingerprint: "nodes-1", unregisteredNodes: [] });
    expect(targets(world)).toEqual([1, 2, 10].map(machineId));
  });

  test("leave the present targets in place as long as there is no other (case S-2)", async () => {
    const world = startWorld();
    await ensure(world, { nodes: nodesOf(1, 2) });
    setState(world, 3, "stopped");
    expect(await ensure(world, { nodes: nodesOf(3) })).toMatchObject({ registeredNodes: 0 });
    expect(targets(world)).toEqual([1, 2].map(machineId));
    setState(world, 3, "running");
    await ensure(world, { nodes: nodesOf(3) });
    expect(targets(world)).toEqual([machineId(3)]);
    await ensure(world, { nodes: [] });
    expect(targets(world)).toEqual([]);
  });
});

test("tags follow in both directions on all objects (case S-7)", async () => {
  const world = startWorld();
  const all = (tags: Annotations) => ({ LoadBalancer: tags, TargetGroup: tags, Listener: tags, SecurityGroup: tags });
  const tagged = async (tags: string) => ensure(world, {}, { "additional-resource-tags": tags });
  await tagged("team=blue,cost center=7");
  expect(tagsOf(world)).toEqual(all({ team: "blue", "cost center": "7" }));
  for (const { tags } of [...world.aws.elb.objects.values(), ...world.aws.ec2.groups.values()]) tags.set("mine", "1");
  await tagged("team=red");
  expect(tagsOf(world)).toEqual(all({ team: "red", mine: "1" }));
  await tagged("");
  expect(tagsOf(world)).toEqual(all({ mine: "1" }));
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a-tag-with-a-long-name-${index}`, "x"]));
  await tagged(
    Object.entries(many)
      .map((pair) => pair.join("="))
      .join(","),
  );
  expect(tagsOf(world)).toEqual(all({ mine: "1", ...many }));
  await tagged("");
  expect(tagsOf(world)).toEqual(all({ mine: "1" }));
});

test("a second call with the same request changes nothing", async () => {
  const world = startWorld();
  const desired = { nodes: nodesOf(1, 2), ports: [tcp(80), tcp(443)] };
  await ensure(world, desired, { "additional-resource-tags": "a=b" });
  const before = world.aws.changes().length;
  await ensure(world, desired, { "additional-resource-tags": "a=b" });
  expect(world.aws.changes().slice(before)).toEqual([]);
});
