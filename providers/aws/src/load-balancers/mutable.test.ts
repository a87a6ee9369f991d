import { expect, test } from "vitest";
import { wanted } from "../test/desired.ts";
import { nodesOf, startWorld, type World } from "../test/world.ts";
import { annotationSchemas } from "./annotations.ts";

type Annotations = Readonly<Record<string, string>>;

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

const http = { "healthcheck-protocol": "HTTP" };
const tls = { "ssl-cert": "arn:cert" };
const logs = { "access-log-enabled": "true", "access-log-s3-bucket-name": "logs" };

/** A value of each annotation that may change, and the others without which it has no effect. */
const values: Readonly<Record<string, readonly [value: string, others?: Annotations]>> = {
  subnets: ["subnet-1"],
  "ip-address-type": ["dualstack"],
  "security-groups": ["sg-8,sg-9"],
  "extra-security-groups": ["sg-9"],
  "proxy-protocol": ["*"],
  "cross-zone-load-balancing-enabled": ["true"],
  "connection-idle-timeout": ["600"],
  "connection-draining-enabled": ["false"],
  "connection-draining-timeout": ["60"],
  "target-group-attributes": ["preserve_client_ip.enabled=false"],
  "additional-resource-tags": ["team=blue"],
  "healthcheck-protocol": ["HTTP"],
  "healthcheck-port": ["8080"],
  "healthcheck-path": ["/ready", http],
  "healthcheck-interval": ["20"],
  "healthcheck-timeout": ["7"],
  "healthcheck-healthy-threshold": ["3"],
  "healthcheck-unhealthy-threshold": ["3"],
  "ssl-cert": ["arn:cert"],
  "ssl-ports": ["443", tls],
  "ssl-negotiation-policy": ["ELBSecurityPolicy-FS", tls],
  "backend-protocol": ["ssl", tls],
  "access-log-enabled": ["true", { "access-log-s3-bucket-name": "logs" }],
  "access-log-s3-bucket-name": ["more-logs", logs],
  "access-log-s3-bucket-prefix": ["blue", logs],
};

/** Those whose values the provider refuses, or leaves to another controller. */
const refused = ["type", "nlb-target-type"];

const ensure = async ({ handlers, context }: World, annotations: Annotations) =>
  handlers.ensure(wanted(annotations, { nodes: nodesOf(1), specFingerprint: JSON.stringify(annotations) }), context);

/** Fields of the fake's objects that are IDs, or inputs that it keeps in another form. */
const ignored = new Set([
  "LoadBalancerArn",
  "ListenerArn",
  "TargetGroupArn",
  "DefaultActions",
  "Tags",
  "SubnetMappings",
]);

/** All that belongs to the load balancer, without fingerprints and what has no effect. */
const stateOf = ({ aws }: World): readonly string[] =>
  [...aws.elb.objects.values()]
    .map(({ kind, details, tags, attributes, targets }) => {
      const isLogging = attributes.get("access_logs.s3.enabled") === "true";
      const facts = [...Object.entries(details), ...tags, ...attributes].filter(
        ([key, value]) =>
          value !== undefined &&
          !ignored.has(key) &&
          !key.endsWith("-fingerprint") &&
          (isLogging || !key.startsWith("access_logs.s3.")),
      );
      return `${kind} ${[...facts.map((fact) => JSON.stringify(fact)), ...targets].toSorted().join(" ")}`;
    })
    .toSorted();

const fresh = async (annotations: Annotations): Promise<World> => {
  const world = startWorld();
  await ensure(world, annotations);
  return world;
};

const names = (isMutable: boolean): readonly string[] =>
  annotationSchemas.filter(({ mutable = false }) => mutable === isMutable).map(({ key }) => key.slice(prefix.length));

test("every annotation that may change has a value here", () => {
  expect([...Object.keys(values), ...refused, ...perSubnet].toSorted()).toEqual(names(true).toSorted());
});

test.each(Object.entries(values))("%s follows in both directions (case S-7)", async (name, [value, others = {}]) => {
  const [without, having] = [{ ...others }, { ...others, [name]: value }];
  const world = await fresh(without);
  const before = stateOf(world);
  await ensure(world, having);
  expect(stateOf(world)).toEqual(stateOf(await fresh(having)));
  expect(stateOf(world)).not.toEqual(before);
  await ensure(world, without);
  expect(stateOf(world)).toEqual(before);
});

const fixed: Readonly<Record<string, readonly [from: Annotations, to: Annotations]>> = {
  internal: [{}, { internal: "true" }],
  "eip-allocations": [{ "eip-allocations": "eip-1,eip-2" }, { "eip-allocations": "eip-3,eip-4" }],
  "private-ipv4-addresses": [
    { internal: "true", "private-ipv4-addresses": "10.0.1.9,10.0.2.9" },
    { internal: "true", "private-ipv4-addresses": "10.0.1.8,10.0.2.8" },
  ],
};

/** Declared as mutable: a new subnet takes its own address. */
const perSubnet = ["eip-allocations", "private-ipv4-addresses"];

test("every annotation that cannot change has a value here", () => {
  expect(Object.keys(fixed).toSorted()).toEqual([...names(false), ...perSubnet].toSorted());
});

test.each(Object.entries(fixed))("%s changes nothing, with a diagnostic (case S-6)", async (name, [from, to]) => {
  for (const [before, after] of [
    [from, to],
    [from, name === "private-ipv4-addresses" ? { internal: "true" } : {}],
  ] as const) {
    const world = await fresh(before);
    const state = stateOf(world);
    expect(world.diagnostics).toEqual([]);
    await ensure(world, after);
    expect(stateOf(world)).toEqual(state);
    const fields = world.diagnostics.map(({ field }) => field);
    expect(fields).toEqual(
      JSON.stringify(before) === JSON.stringify(after) ? [] : [`spec.annotations["${prefix}${name}"]`],
    );
  }
});

test("a changed scheme does not move a load balancer to other subnets (case S-6)", async () => {
  const world = startWorld();
  world.aws.ec2.subnets.set("subnet-3", new Map([["kubernetes.io/role/internal-elb", "1"]]));
  await ensure(world, {});
  const state = stateOf(world);
  await ensure(world, { internal: "true" });
  expect(stateOf(world)).toEqual(state);
});

test("a new subnet gets its static address, and the others keep theirs (case S-6)", async () => {
  const world = await fresh({ subnets: "subnet-1", "eip-allocations": "eip-1" });
  await ensure(world, { subnets: "subnet-1,subnet-2", "eip-allocations": "eip-9,eip-2" });
  const [balancer] = world.aws.elb.all("LoadBalancer");
  expect(balancer?.details["AvailabilityZones"]).toMatchObject([
    { SubnetId: "subnet-1", LoadBalancerAddresses: [{ AllocationId: "eip-1" }] },
    { SubnetId: "subnet-2", LoadBalancerAddresses: [{ AllocationId: "eip-2" }] },
  ]);
});
