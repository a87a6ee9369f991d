import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, type Json, listOf } from "../../support/kube.ts";
import type { AwsAccount } from "./support/aws-account.ts";
import { AwsCaller, idOf, reasonOf, refOf } from "./support/aws-caller.ts";
import type { EmulatedMachine } from "./support/emulated-cloud.ts";
import type { OwnAws } from "./support/own-aws.ts";

const START_MS = 120_000;

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

const unknownId = "aws:///us-east-1a/i-0123456789abcdef0";

const balancerOf = async (name: string): Promise<Json> => {
  const all = listOf(at(await account.elb("describe_load_balancers"), "LoadBalancers"));
  for (const balancer of all) {
    const arns = [balancer["LoadBalancerArn"]];
    const tags = listOf(at(await account.elb("describe_tags", { ResourceArns: arns }), "TagDescriptions", 0, "Tags"));
    if (tags.some(({ Key, Value }) => Key === "kubernetes.io/service-name" && Value === `default/${name}`))
      return balancer;
  }
  throw new Error(`AWS has no load balancer of Service ${name}`);
};

/** Each listener as its port, its protocol and the ids of its targets. */
const listenersOf = async (name: string): Promise<readonly unknown[]> => {
  const { LoadBalancerArn } = await balancerOf(name);
  const listeners = listOf(at(await account.elb("describe_listeners", { LoadBalancerArn }), "Listeners"));
  const ports = await Promise.all(
    listeners.map(async ({ Port, Protocol, DefaultActions }) => {
      const TargetGroupArn = at(DefaultActions, 0, "TargetGroupArn");
      const health = listOf(
        at(await account.elb("describe_target_health", { TargetGroupArn }), "TargetHealthDescriptions"),
      );
      return [Port, Protocol, health.map(({ Target }) => String(at(Target, "Id"))).toSorted()] as const;
    }),
  );
  return ports.toSorted(([left], [right]) => Number(left) - Number(right));
};

const securityGroup = async (name: string): Promise<Json | undefined> => {
  const filters = [{ Name: "tag:kubernetes.io/service-name", Values: [`default/${name}`] }];
  return listOf(at(await account.ec2("describe_security_groups", { Filters: filters }), "SecurityGroups"))[0];
};

describe("look-ups of the provider for AWS", () => {
  test("find machines by id and by name, and say what is not there", async () => {
    const nodes = [
      { name: "any", providerId: idOf(first) },
      { name: "any", providerId: `aws:///${second.id}` },
      { name: second.name },
      { name: "ip-10-99-99-99.ec2.internal" },
      { name: "any", providerId: unknownId },
      { name: "any", providerId: "aws:///us-east-1a/vol-01234567" },
    ];
    const instance = "instance";
    expect(await caller.lookUp(nodes)).toEqual([
      instance,
      instance,
      instance,
      "absent",
      "absent",
      "PROVIDER_ID_MALFORMED",
    ]);
  });

  test("take a machine that was just made for not visible yet, and never for absent", async () => {
    expect(await caller.lookUp([{ name: "any", providerId: unknownId, createTime: new Date() }])).toEqual([
      "NOT_YET_CONSISTENT",
    ]);
  });

  test("report stopped machines, and terminated ones as gone", async () => {
    const machine = await aws.cloud.run("us-east-1a");
    const states = async () => {
      const { results } = await caller.provider.batchGetInstances({
        nodes: [{ name: "any", providerId: idOf(machine) }],
        maxDataAge: { seconds: 0n, nanos: 0 },
      });
      const outcome = results[0]?.outcome;
      if (outcome?.$case === "instance") return outcome.value.state;
      return outcome?.$case === "absent" ? [outcome.value.basis, outcome.value.stronglyConsistent] : outcome;
    };
    expect(await states()).toBe(2);
    await account.ec2("stop_instances", { InstanceIds: [machine.id] });
    expect(await states()).toBe(4);
    await aws.cloud.terminate(machine);
    expect(await states()).toEqual([1, true]);
  });

  test("say unknown of everything while AWS answers with errors", async () => {
    await account.fail(true);
    try {
      const outcomes = await caller
        .lookUp([{ name: "any", providerId: unknownId }, { name: first.name }])
        .catch((error: unknown) => [reasonOf(error)]);
      expect(new Set(outcomes)).toEqual(new Set(["CLOUD_UNAVAILABLE"]));
    } finally {
      await account.fail(false);
    }
  });

  test("report the zone of a volume", async () => {
    const volume = await account.ec2("create_volume", { AvailabilityZone: "us-east-1b", Size: 1 });
    const handles = [String(at(volume, "VolumeId")), "vol-0123456789abcdef0"];
    const { results } = await caller.provider.batchGetVolumes({
      volumes: handles.map((volumeHandle, index) => ({
        name: `pv-${index}`,
        source: { $case: "csi" as const, value: { driver: "ebs.csi.aws.com", volumeHandle } },
      })),
    });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["volume", "absent"]);
    expect(results[0]?.outcome).toMatchObject({ value: { zones: ["us-east-1b"], region: "us-east-1" } });
  });
});

describe("load balancers of the provider for AWS", () => {
  test("have the listeners, targets and rules of the spec, and change nothing when they exist", async () => {
    const nodes = { one: idOf(first), two: idOf(second) };
    const desired = { ports: [80, 443], nodes, spec: { sourceRanges: { cidrs: ["192.0.2.0/24"] } } };
    const made = await caller.ensure("web", desired);
    expect(made.loadBalancer).toMatchObject({ phase: 2, registeredNodes: 2 });
    const targets = [first.id, second.id].toSorted();
    expect(await listenersOf("web")).toEqual([
      [80, "TCP", targets],
      [443, "TCP", targets],
    ]);
    const ranges = listOf(at(await securityGroup("web"), "IpPermissions")).map(({ IpProtocol, FromPort, IpRanges }) =>
      [IpProtocol, FromPort, at(IpRanges, 0, "CidrIp")].join(" "),
    );
    expect(ranges.toSorted()).toEqual(["icmp 3 192.0.2.0/24", "tcp 443 192.0.2.0/24", "tcp 80 192.0.2.0/24"]);
    const again = await caller.ensure("web", desired);
    expect(again.stats?.cloudMutations).toBe(0);
    expect(again.loadBalancer?.observedFingerprint).toBe(made.loadBalancer?.observedFingerprint);
  });

  test("remove what is no longer requested, and what someone put there by hand", async () => {
    const before = await caller.provider.getLoadBalancer(refOf("web"));
    const GroupId = at(await securityGroup("web"), "GroupId");
    await account.ec2("authorize_security_group_ingress", {
      GroupId,
      IpProtocol: "tcp",
      FromPort: 22,
      ToPort: 22,
      CidrIp: "0.0.0.0/0",
    });
    const observed = (got: typeof before) =>
      got.outcome?.$case === "loadBalancer" ? got.outcome.value.observedFingerprint : undefined;
    expect(observed(await caller.provider.getLoadBalancer(refOf("web")))).not.toBe(observed(before));
    await caller.ensure("web", { ports: [443, 8080], nodes: { two: idOf(second) } });
    expect(await listenersOf("web")).toEqual([
      [443, "TCP", [second.id]],
      [8080, "TCP", [second.id]],
    ]);
    const rules = listOf(at(await securityGroup("web"), "IpPermissions")).map(({ FromPort }) => FromPort);
    expect(rules.toSorted((left, right) => Number(left) - Number(right))).toEqual([3, 443, 8080]);
    const groups = listOf(at(await account.elb("describe_target_groups"), "TargetGroups"));
    expect(groups).toHaveLength(2);
  });

  test("show in what is read of them that a listener was taken away by hand, and get it back", async () => {
    const observed = async () => {
      const { outcome } = await caller.provider.getLoadBalancer(refOf("web"));
      return outcome?.$case === "loadBalancer" ? outcome.value.observedFingerprint : undefined;
    };
    const before = await observed();
    const { LoadBalancerArn } = await balancerOf("web");
    const listeners = listOf(at(await account.elb("describe_listeners", { LoadBalancerArn }), "Listeners"));
    const taken = listeners.find(({ Port }) => Port === 8080);
    await account.elb("delete_listener", { ListenerArn: taken?.["ListenerArn"] });
    expect(await observed()).not.toBe(before);
    await caller.ensure("web", { ports: [443, 8080], nodes: { two: idOf(second) } });
    expect(await listenersOf("web")).toEqual([
      [443, "TCP", [second.id]],
      [8080, "TCP", [second.id]],
    ]);
    expect(await observed()).toBe(before);
  });

  test("have addresses of both families for a Service of both, and lose those of IPv6 with it", async () => {
    const addressType = async () => (await balancerOf("both"))["IpAddressType"];
    const ranges = async () =>
      listOf(at(await securityGroup("both"), "IpPermissions"))
        .flatMap(({ IpProtocol, Ipv6Ranges }) => listOf(Ipv6Ranges).map(({ CidrIpv6 }) => [IpProtocol, CidrIpv6]))
        .toSorted((one, other) => String(one).localeCompare(String(other)));
    const nodes = { one: idOf(first) };
    const ipFamilies = [IpFamily.IPV4, IpFamily.IPV6];
    await caller.ensure("both", { nodes, spec: { ipFamilies } });
    expect([await addressType(), await ranges()]).toEqual([
      "dualstack",
      [
        ["icmpv6", "::/0"],
        ["tcp", "::/0"],
      ],
    ]);
    expect((await caller.ensure("both", { nodes, spec: { ipFamilies } })).stats?.cloudMutations).toBe(0);
    await caller.ensure("both", { nodes });
    expect([await addressType(), await ranges()]).toEqual(["ipv4", []]);
    await caller.remove("both");
  });

  test("have no addresses of IPv6 in subnets without, and say so", async () => {
    const place = { VpcId: aws.vpc, CidrBlock: "10.0.9.0/24", AvailabilityZone: "us-east-1c" };
    const SubnetId = String(at(await account.ec2("create_subnet", place), "Subnet", "SubnetId"));
    const refused = caller.ensure("both", { spec: { ipFamilies: [IpFamily.IPV6] } }, { subnets: SubnetId });
    await expect(refused).rejects.toMatchObject({
      reason: "CLOUD_SETUP_INVALID",
      message: expect.stringContaining(SubnetId),
    });
    await account.ec2("delete_subnet", { SubnetId });
  });

  test("have the attributes that annotations ask for", async () => {
    const allocation = async () => String(at(await account.ec2("allocate_address", { Domain: "vpc" }), "AllocationId"));
    const allocations = [await allocation(), await allocation()];
    await caller.ensure(
      "static",
      {},
      {
        "eip-allocations": allocations.join(),
        "proxy-protocol": "*",
        "cross-zone-load-balancing-enabled": "true",
        "connection-idle-timeout": "600",
        "additional-resource-tags": "team=blue",
      },
    );
    const { LoadBalancerArn, Scheme } = await balancerOf("static");
    const attributesOf = async (method: string, params: object): Promise<unknown> => {
      const attributes = listOf(at(await account.elb(method, params), "Attributes"));
      return Object.fromEntries(attributes.map(({ Key, Value }) => [Key, Value]));
    };
    const { ListenerArn, DefaultActions } =
      listOf(at(await account.elb("describe_listeners", { LoadBalancerArn }), "Listeners"))[0] ?? {};
    const TargetGroupArn = at(DefaultActions, 0, "TargetGroupArn");
    expect(Scheme).toBe("internet-facing");
    expect(await attributesOf("describe_load_balancer_attributes", { LoadBalancerArn })).toMatchObject({
      "load_balancing.cross_zone.enabled": "true",
    });
    expect(await attributesOf("describe_target_group_attributes", { TargetGroupArn })).toMatchObject({
      "proxy_protocol_v2.enabled": "true",
    });
    expect(await attributesOf("describe_listener_attributes", { ListenerArn })).toMatchObject({
      "tcp.idle_timeout.seconds": "600",
    });
    await caller.ensure("static");
    expect(await attributesOf("describe_listener_attributes", { ListenerArn })).toMatchObject({
      "tcp.idle_timeout.seconds": "350",
    });
    await caller.remove("static");
  });

  test("say which subnets they need when none is marked for them", async () => {
    const refused = caller.ensure("internal", {}, { internal: "true" });
    await expect(refused).rejects.toMatchObject({
      reason: "CLOUD_SETUP_INVALID",
      message: expect.stringContaining("kubernetes.io/role/internal-elb=1"),
    });
  });

  test("never take one that another process owns, and name the owner", async () => {
    const name = String((await balancerOf("web"))["LoadBalancerName"]);
    await caller.remove("web");
    const subnets = listOf(at(await account.ec2("describe_subnets"), "Subnets")).map(({ SubnetId }) => SubnetId);
    const Tags = [
      { Key: "cloudwire.dev/cluster-id", Value: "cluster-2" },
      { Key: "cloudwire.dev/cluster-name", Value: "green" },
    ];
    const foreign = await account.elb("create_load_balancer", {
      Name: name,
      Type: "network",
      Subnets: subnets.slice(0, 1),
      Tags,
    });
    await expect(caller.ensure("web")).rejects.toMatchObject({
      reason: "OWNED_BY_ANOTHER_CLUSTER",
      message: expect.stringContaining("green (cluster-2)"),
      metadata: { owner_cluster_id: "cluster-2", owner_cluster_name: "green" },
    });
    await caller.remove("web");
    const LoadBalancerArn = at(foreign, "LoadBalancers", 0, "LoadBalancerArn");
    expect(await account.orphans()).toEqual([`load balancer ${name}`]);
    await account.elb("delete_load_balancer", { LoadBalancerArn });
  });

  test("leave nothing behind, not even what an interrupted call has made", async () => {
    await caller.ensure("half");
    const { LoadBalancerArn } = await balancerOf("half");
    await account.elb("delete_load_balancer", { LoadBalancerArn });
    expect(await account.orphans()).not.toEqual([]);
    await caller.remove("half");
    expect(await account.orphans()).toEqual([]);
  });
});

describe("the emulated AWS refuses what moto takes, for the provider may not rely on it:", () => {
  test("a second load balancer of a name, a second listener on a port, a target that is no machine", async () => {
    await caller.ensure("strict", { nodes: { one: idOf(first) } });
    const { LoadBalancerName: Name, LoadBalancerArn } = await balancerOf("strict");
    const Subnets = listOf(at(await account.ec2("describe_subnets"), "Subnets")).map(({ SubnetId }) => SubnetId);
    const twin = account.elb("create_load_balancer", { Name, Type: "network", Subnets: Subnets.slice(0, 1) });
    await expect(twin).rejects.toThrow("DuplicateLoadBalancerName");
    const listeners = listOf(at(await account.elb("describe_listeners", { LoadBalancerArn }), "Listeners"));
    const { Port, Protocol, DefaultActions } = listeners[0] ?? {};
    const again = account.elb("create_listener", { LoadBalancerArn, Port, Protocol, DefaultActions });
    await expect(again).rejects.toThrow("DuplicateListener");
    const TargetGroupArn = at(DefaultActions, 0, "TargetGroupArn");
    const unknown = account.elb("register_targets", { TargetGroupArn, Targets: [{ Id: "i-0123456789abcdef0" }] });
    await expect(unknown).rejects.toThrow("InvalidTarget");
    await caller.remove("strict");
  });
});

describe("routes of the provider for AWS", () => {
  const route = (destinationCidr: string, machine: string) => ({
    destinationCidr,
    targetProviderId: machine,
    targetNodeName: "node",
  });
  const ensured = async (...routes: readonly ReturnType<typeof route>[]) => {
    const { results } = await caller.provider.batchEnsureRoutes({ routes: [...routes] });
    return results.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.reason : outcome?.$case));
  };
  /** In the order of their ranges: the contract's lists have none, and routes are made side by side. */
  const listed = async () =>
    (await caller.provider.listRoutes({})).routes
      .map(
        ({ destinationCidr, targetProviderId, blackhole }) => [destinationCidr, targetProviderId, blackhole] as const,
      )
      .toSorted(([left], [right]) => left.localeCompare(right));

  test("are made, replaced and removed, and others' are never touched", async () => {
    const third = await aws.cloud.run("us-east-1a");
    const gateways = listOf(at(await account.ec2("describe_internet_gateways"), "InternetGateways"));
    const byHand = {
      RouteTableId: aws.routeTable,
      DestinationCidrBlock: "10.120.99.0/24",
      GatewayId: gateways[0]?.["InternetGatewayId"],
    };
    await account.ec2("create_route", byHand);
    expect(
      await ensured(
        route("10.120.1.0/24", idOf(first)),
        route("10.120.2.0/24", idOf(third)),
        route("10.120.3.0/24", unknownId),
        route("10.120.99.0/24", idOf(first)),
        route("10.9.0.0/24", idOf(first)),
      ),
    ).toEqual(["route", "route", "ROUTE_TARGET_NOT_FOUND", "CIDR_CONFLICT", "FIELD_INVALID"]);
    expect(await listed()).toEqual([
      ["10.120.1.0/24", idOf(first), false],
      ["10.120.2.0/24", idOf(third), false],
    ]);
    await aws.cloud.terminate(third);
    expect(await listed()).toEqual([
      ["10.120.1.0/24", idOf(first), false],
      ["10.120.2.0/24", "", true],
    ]);
    expect(await ensured(route("10.120.2.0/24", idOf(second)))).toEqual(["route"]);
    const gone = await caller.provider.batchDeleteRoutes({
      routes: [route("10.120.1.0/24", ""), route("10.120.2.0/24", ""), route("10.120.99.0/24", "")],
    });
    expect(
      gone.results.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.reason : outcome?.$case)),
    ).toEqual(["route", "route", "OWNED_BY_ANOTHER_CLUSTER"]);
    expect(await aws.cloud.routes()).toEqual([]);
    const tables = await account.ec2("describe_route_tables", { RouteTableIds: [aws.routeTable] });
    const keys = listOf(at(tables, "RouteTables", 0, "Tags")).map(({ Key }) => Key);
    expect(keys).toEqual(["kubernetes.io/cluster/emulated"]);
  });
});
