import { expect, test } from "vitest";
import { wanted } from "../test/desired.ts";
import { startWorld, type World } from "../test/world.ts";

const service = (name: string) => ({ namespace: "default", name, uid: `uid-${name}` });

const ensure = async ({ handlers, context }: World, name: string) =>
  handlers.ensure(wanted({}, { key: `k8s-${name}`, service: service(name) }), context);

const listed = async ({ handlers, context }: World): Promise<readonly unknown[]> => {
  const names: unknown[] = [];
  for await (const item of handlers.list?.(context) ?? [])
    names.push("service" in item ? item.service?.name : item.kind);
  return names;
};

/** A load balancer of another owner, which is deleted as soon as it was listed. */
const addVanishing = ({ aws }: World): void => {
  const arn = "arn:vanishing";
  const details = { LoadBalancerArn: arn, LoadBalancerName: "theirs", Type: "network" };
  aws.elb.objects.set(arn, {
    arn,
    kind: "LoadBalancer",
    details,
    tags: new Map(),
    attributes: new Map(),
    targets: new Set(),
  });
  aws.failureOf = (name) => {
    if (name === "DescribeTags") aws.elb.objects.delete(arn);
    return undefined;
  };
};

test("a list leaves out a load balancer that is deleted while it is read (case S-10)", async () => {
  const world = startWorld();
  for (const name of ["one", "two", "three"]) await ensure(world, name);
  addVanishing(world);
  expect(await listed(world)).toEqual(["one", "two", "three"]);
});

test("an own load balancer that is deleted while it is read is absent, and its name is free (case S-10)", async () => {
  const world = startWorld();
  await ensure(world, "one");
  world.aws.failureOf = (name) => {
    if (name === "DescribeTags")
      for (const { arn } of world.aws.elb.all("LoadBalancer")) world.aws.elb.objects.delete(arn);
    return undefined;
  };
  const ref = { ...wanted({}, { key: "k8s-one", service: service("one") }) };
  expect(await world.handlers.get?.(ref, world.context)).toMatchObject({ kind: "absent" });
  world.aws.failureOf = () => undefined;
  expect(await ensure(world, "one")).toMatchObject({ phase: "ACTIVE" });
});
