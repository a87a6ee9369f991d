import type { FakeEc2 } from "./fake-ec2.ts";
import { awsError, type Fields, listOf, pairsOf, textOf, textsOf, toPairs } from "./fields.ts";

/** A load balancer, a target group or a listener. */
export interface FakeObject {
  readonly arn: string;
  readonly kind: "LoadBalancer" | "TargetGroup" | "Listener";
  details: Fields;
  readonly tags: Map<string, string>;
  readonly attributes: Map<string, string>;
  /** IDs of the machines of a target group. */
  readonly targets: Set<string>;
}

type Kind = FakeObject["kind"];
type Handler = (input: Fields) => Fields;

/** The part of Elastic Load Balancing that network load balancers need. */
export class FakeElb {
  readonly objects = new Map<string, FakeObject>();
  /** Targets of a group. */
  targetQuota = 1000;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly #ec2: FakeEc2;
  #made = 0;

  constructor(ec2: FakeEc2) {
    this.#ec2 = ec2;
    this.handlers = new Map<string, Handler>([
      ...this.#balancerHandlers(),
      ...this.#groupHandlers(),
      ...this.#listenerHandlers(),
      ["DescribeTags", (input) => ({ TagDescriptions: textsOf(input["ResourceArns"]).map((arn) => this.#tags(arn)) })],
      [
        "AddTags",
        (input) => this.#tag(input, (object) => pairsOf(input["Tags"]).forEach((v, k) => object.tags.set(k, v))),
      ],
      [
        "RemoveTags",
        (input) => this.#tag(input, ({ tags }) => textsOf(input["TagKeys"]).forEach((key) => tags.delete(key))),
      ],
    ]);
  }

  all(kind: Kind): readonly FakeObject[] {
    return [...this.objects.values()].filter((object) => object.kind === kind);
  }

  #balancerHandlers(): readonly (readonly [string, Handler])[] {
    const arnOf = (input: Fields): string => textOf(input["LoadBalancerArn"]);
    return [
      [
        "DescribeLoadBalancers",
        (input) => ({ LoadBalancers: this.#named("LoadBalancer", textsOf(input["LoadBalancerArns"])) }),
      ],
      ["CreateLoadBalancer", (input) => ({ LoadBalancers: [this.#createBalancer(input)] })],
      ["DeleteLoadBalancer", (input) => this.#deleteBalancer(arnOf(input))],
      [
        "SetSecurityGroups",
        (input) => this.#update("LoadBalancer", arnOf(input), { SecurityGroups: input["SecurityGroups"] }),
      ],
      ["SetSubnets", (input) => this.#update("LoadBalancer", arnOf(input), { AvailabilityZones: zonesOf(input) })],
      [
        "SetIpAddressType",
        (input) => this.#update("LoadBalancer", arnOf(input), { IpAddressType: input["IpAddressType"] }),
      ],
      ["DescribeLoadBalancerAttributes", (input) => this.#attributes("LoadBalancer", arnOf(input))],
      ["ModifyLoadBalancerAttributes", (input) => this.#modify("LoadBalancer", arnOf(input), input)],
    ];
  }

  #groupHandlers(): readonly (readonly [string, Handler])[] {
    const arnOf = (input: Fields): string => textOf(input["TargetGroupArn"]);
    return [
      ["DescribeTargetGroups", (input) => ({ TargetGroups: this.#groups(input) })],
      [
        "CreateTargetGroup",
        (input) => ({
          TargetGroups: [
            this.#create("TargetGroup", textOf(input["Name"]), { ...input, TargetGroupName: input["Name"] }),
          ],
        }),
      ],
      ["ModifyTargetGroup", (input) => this.#update("TargetGroup", arnOf(input), input)],
      ["DeleteTargetGroup", (input) => this.#deleteGroup(arnOf(input))],
      ["DescribeTargetGroupAttributes", (input) => this.#attributes("TargetGroup", arnOf(input))],
      ["ModifyTargetGroupAttributes", (input) => this.#modify("TargetGroup", arnOf(input), input)],
      ["RegisterTargets", (input) => this.#register(input)],
      ["DeregisterTargets", (input) => this.#deregister(input)],
      [
        "DescribeTargetHealth",
        (input) => ({
          TargetHealthDescriptions: [...this.#object("TargetGroup", arnOf(input)).targets].map((Id) => ({
            Target: { Id },
            TargetHealth: { State: "healthy" },
          })),
        }),
      ],
    ];
  }

  #listenerHandlers(): readonly (readonly [string, Handler])[] {
    const arnOf = (input: Fields): string => textOf(input["ListenerArn"]);
    return [
      ["DescribeListeners", (input) => ({ Listeners: this.#listeners(input) })],
      ["CreateListener", (input) => ({ Listeners: [this.#createListener(input)] })],
      ["ModifyListener", (input) => this.#update("Listener", arnOf(input), { ...withoutTls(input), ...input })],
      [
        "DeleteListener",
        (input) => {
          this.#object("Listener", arnOf(input));
          this.objects.delete(arnOf(input));
          return {};
        },
      ],
      ["DescribeListenerAttributes", (input) => this.#attributes("Listener", arnOf(input))],
      ["ModifyListenerAttributes", (input) => this.#modify("Listener", arnOf(input), input)],
    ];
  }

  #object(kind: Kind, arn: string): FakeObject {
    const object = this.objects.get(arn);
    if (object?.kind !== kind) throw awsError(`${kind}NotFoundException`);
    return object;
  }

  #create(kind: Kind, name: string, details: Fields): Fields {
    const isTaken = this.all(kind).some((object) => object.details[`${kind}Name`] === name && name !== "");
    if (isTaken) throw awsError(`Duplicate${kind}NameException`);
    this.#made += 1;
    const arn = `arn:aws:elasticloadbalancing:region-1:account-1:${kind.toLowerCase()}/${name}/${this.#made}`;
    const made = { ...details, [`${kind}Arn`]: arn };
    this.objects.set(arn, {
      arn,
      kind,
      details: made,
      tags: pairsOf(details["Tags"]),
      attributes: new Map(kind === "Listener" ? [["tcp.idle_timeout.seconds", "350"]] : []),
      targets: new Set(),
    });
    return made;
  }

  #createBalancer(input: Fields): Fields {
    const name = textOf(input["Name"]);
    const AvailabilityZones = zonesOf(input);
    const state = { State: { Code: "active" }, DNSName: `${name}.elb.example.com` };
    return this.#create("LoadBalancer", name, { ...input, ...state, LoadBalancerName: name, AvailabilityZones });
  }

  #deleteBalancer(arn: string): Fields {
    for (const { arn: listener, details } of this.all("Listener")) {
      if (details["LoadBalancerArn"] === arn) this.objects.delete(listener);
    }
    this.objects.delete(arn);
    return {};
  }

  #createListener(input: Fields): Fields {
    const balancer = this.#object("LoadBalancer", textOf(input["LoadBalancerArn"]));
    const isTaken = this.#listeners({ LoadBalancerArn: balancer.arn }).some(({ Port }) => Port === input["Port"]);
    if (isTaken) throw awsError("DuplicateListenerException");
    return this.#create("Listener", "", input);
  }

  #listeners(input: Fields): readonly Fields[] {
    const { arn } = this.#object("LoadBalancer", textOf(input["LoadBalancerArn"]));
    return this.all("Listener")
      .filter(({ details }) => details["LoadBalancerArn"] === arn)
      .map(({ details }) => details);
  }

  #named(kind: Kind, arns: readonly string[]): readonly Fields[] {
    return (arns.length === 0 ? this.all(kind) : arns.map((arn) => this.#object(kind, arn))).map(
      ({ details }) => details,
    );
  }

  /** Load balancers with a listener that forwards to the group. */
  #usersOf(groupArn: string): readonly string[] {
    const found = this.all("Listener").filter(({ details }) =>
      listOf(details["DefaultActions"]).some(({ TargetGroupArn }) => TargetGroupArn === groupArn),
    );
    return [...new Set(found.map(({ details }) => textOf(details["LoadBalancerArn"])))];
  }

  #groups({ LoadBalancerArn, Names }: Fields): readonly Fields[] {
    const names = textsOf(Names);
    const found = this.all("TargetGroup").map(({ arn, details }) => ({
      ...details,
      TargetGroupName: details["TargetGroupName"],
      LoadBalancerArns: this.#usersOf(arn),
    }));
    const named =
      names.length === 0 ? found : found.filter(({ TargetGroupName }) => names.includes(textOf(TargetGroupName)));
    if (named.length < names.length) throw awsError("TargetGroupNotFoundException");
    return LoadBalancerArn === undefined
      ? named
      : named.filter(({ LoadBalancerArns }) => LoadBalancerArns.includes(textOf(LoadBalancerArn)));
  }

  #deleteGroup(arn: string): Fields {
    if (this.#usersOf(arn).length > 0) throw awsError("ResourceInUseException");
    this.#object("TargetGroup", arn);
    this.objects.delete(arn);
    return {};
  }

  /** All targets or none, as AWS does. */
  #register(input: Fields): Fields {
    const { targets } = this.#object("TargetGroup", textOf(input["TargetGroupArn"]));
    const ids = listOf(input["Targets"]).map(({ Id }) => textOf(Id));
    if (ids.some((id) => this.#ec2.machines.get(id)?.state !== "running")) throw awsError("InvalidTargetException");
    if (new Set([...targets, ...ids]).size > this.targetQuota) throw awsError("TooManyTargetsException");
    for (const id of ids) targets.add(id);
    return {};
  }

  #deregister(input: Fields): Fields {
    const { targets } = this.#object("TargetGroup", textOf(input["TargetGroupArn"]));
    for (const { Id } of listOf(input["Targets"])) targets.delete(textOf(Id));
    return {};
  }

  #update(kind: Kind, arn: string, changed: Fields): Fields {
    const object = this.#object(kind, arn);
    object.details = { ...object.details, ...changed };
    return {};
  }

  #attributes(kind: Kind, arn: string): Fields {
    return { Attributes: toPairs(this.#object(kind, arn).attributes) };
  }

  #modify(kind: Kind, arn: string, input: Fields): Fields {
    const { attributes } = this.#object(kind, arn);
    for (const [key, value] of pairsOf(input["Attributes"])) attributes.set(key, value);
    return {};
  }

  #tags(arn: string): Fields {
    const object = this.objects.get(arn);
    if (object === undefined) throw awsError("LoadBalancerNotFoundException");
    return { ResourceArn: arn, Tags: toPairs(object.tags) };
  }

  #tag(input: Fields, change: (object: FakeObject) => void): Fields {
    for (const arn of textsOf(input["ResourceArns"])) {
      const object = this.objects.get(arn);
      if (object === undefined) throw awsError("LoadBalancerNotFoundException");
      change(object);
    }
    return {};
  }
}

function zonesOf(input: Fields): readonly Fields[] {
  return listOf(input["SubnetMappings"]).map(({ SubnetId, AllocationId, PrivateIPv4Address }) => ({
    SubnetId,
    LoadBalancerAddresses: [{ AllocationId, PrivateIPv4Address }],
  }));
}

/** AWS removes these when a listener speaks TLS no longer. */
function withoutTls({ Protocol }: Fields): Fields {
  return Protocol === "TLS" ? {} : { Certificates: undefined, SslPolicy: undefined };
}
