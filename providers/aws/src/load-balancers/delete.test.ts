import { expect, test } from "vitest";
import { wanted } from "../test/desired.ts";
import { machineId, startWorld, type World } from "../test/world.ts";

const startWithBalancer = async (): Promise<World> => {
  const world = startWorld();
  await world.handlers.ensure(wanted(), world.context);
  return world;
};

const remove = async ({ handlers, context }: World) => handlers.delete(wanted(), context);

const theirs = { id: "sg-9", name: "databases", tags: new Map<string, string>() };

const waiting = "waiting until no other resource uses it";

test.each([
  [
    "rules of another security group",
    ({ aws }: World) =>
      aws.ec2.groups.set("sg-9", { ...theirs, rules: new Set(["tcp|5432|5432|sg-1"]), sendsTo: new Set() }),
    "security group sg-1, used by rules of security group sg-9",
    waiting,
  ],
  [
    "outgoing rules of another security group",
    ({ aws }: World) => aws.ec2.groups.set("sg-9", { ...theirs, rules: new Set(), sendsTo: new Set(["sg-1"]) }),
    "security group sg-1, used by rules of security group sg-9",
    waiting,
  ],
  [
    "an instance",
    ({ aws }: World) => aws.ec2.machines.set(machineId(1), { id: machineId(1), state: "running", groups: ["sg-1"] }),
    "security group sg-1, used by the network interface of an instance",
    waiting,
  ],
  [
    "network interfaces that AWS deletes itself",
    ({ aws }: World) => aws.ec2.releasing.add("sg-1"),
    "security group sg-1",
    "deleting network interfaces",
  ],
])("a deletion names what remains and what uses it: %s (case S-5)", async (_, use, remaining, stage) => {
  const world = await startWithBalancer();
  use(world);
  expect(await remove(world)).toMatchObject({ kind: "pending", remaining: [remaining], stage });
  world.aws.ec2.groups.delete("sg-9");
  world.aws.ec2.releasing.clear();
  world.aws.ec2.machines.clear();
  expect(await remove(world)).toBeUndefined();
  expect(world.aws.ec2.groups.size + world.aws.elb.objects.size).toBe(0);
});

test("a deletion names no other load balancer that uses a part (case S-5)", async () => {
  const world = await startWithBalancer();
  const other = { key: "k8s-2", service: { namespace: "default", name: "other", uid: "uid-2" } };
  await world.handlers.ensure(wanted({ "extra-security-groups": "sg-1" }, other), world.context);
  world.aws.ec2.releasing.add("sg-1");
  const [, theirGroup] = world.aws.elb.all("TargetGroup");
  const [ourListener] = world.aws.elb.all("Listener");
  if (ourListener && theirGroup) {
    const [, theirListener] = world.aws.elb.all("Listener");
    const [ourGroup] = world.aws.elb.all("TargetGroup");
    if (theirListener)
      theirListener.details = { ...theirListener.details, DefaultActions: [{ TargetGroupArn: ourGroup?.arn }] };
  }
  const answer = await remove(world);
  expect(answer).toMatchObject({
    remaining: [
      expect.stringMatching(/^target group .*, used by another load balancer$/),
      "security group sg-1, used by another load balancer",
    ],
  });
  expect(JSON.stringify(answer)).not.toContain("k8s-2");
});
