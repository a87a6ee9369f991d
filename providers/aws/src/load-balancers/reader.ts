import { DescribeSecurityGroupsCommand, type SecurityGroup } from "@aws-sdk/client-ec2";
import {
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  type Listener,
  type LoadBalancer,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { chunksOf, inHalves } from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";
import { isCode } from "../cloud/errors.ts";
import { clusterIdTag, fromAwsTags, serviceUidTag, type Tags } from "../cloud/ownership.ts";
import { readAll, readPages } from "../cloud/pages.ts";

/** The fields of a load balancer that AWS always returns. */
export interface SeenBalancer {
  readonly arn: string;
  readonly name: string;
  readonly details: LoadBalancer;
  readonly tags: Tags;
}

/** A target group likewise. */
export interface SeenGroup {
  readonly arn: string;
  readonly name: string;
  readonly details: TargetGroup;
}

/** A listener likewise. */
export interface SeenListener {
  readonly arn: string;
  readonly port: number;
  readonly details: Listener;
}

/** Codes for objects that do not exist. */
const notFound = ["LoadBalancerNotFound", "TargetGroupNotFound", "ListenerNotFound"] as const;

/** Most ARNs of one request for tags. */
const maxTaggedArns = 20;

const pageSize = 400;

/** Reads what AWS has for load balancers. What does not exist is an empty answer. */
export class BalancerReader {
  readonly #aws: AwsCalls;

  constructor(aws: AwsCalls) {
    this.#aws = aws;
  }

  /** As it is now; undefined: there is no such network load balancer. */
  async balancer(arn: string, callScope: CallScope): Promise<SeenBalancer | undefined> {
    const { LoadBalancers = [] } = await orNone(
      ["LoadBalancerNotFound", "ValidationError"],
      { $metadata: {} },
      async () =>
        this.#aws.elb(callScope, (client, options) =>
          client.send(new DescribeLoadBalancersCommand({ LoadBalancerArns: [arn] }), options),
        ),
    );
    const [seen] = await this.tagged(LoadBalancers.filter(isNetwork), callScope);
    return seen;
  }

  /** The complete list of the region, without tags. A missing load balancer does not exist. */
  async allBalancers(callScope: CallScope): Promise<readonly LoadBalancer[]> {
    return readAll(this.#balancerPage(callScope));
  }

  /** All network load balancers of the region, page by page. */
  async *balancers(callScope: CallScope): AsyncGenerator<readonly SeenBalancer[]> {
    const pages = readPages(this.#balancerPage(callScope));
    for await (const page of pages) {
      yield await this.tagged(page.filter(isNetwork), callScope);
    }
  }

  /** Tags by ARN, without the objects that do not exist: AWS refuses a request for all objects because of one of them. */
  async tags(arns: readonly string[], callScope: CallScope): Promise<ReadonlyMap<string, Tags>> {
    const request = (chunk: readonly string[]) =>
      this.#aws.elb(callScope, (client, options) =>
        client.send(new DescribeTagsCommand({ ResourceArns: [...chunk] }), options),
      );
    const answers = await Promise.all(
      chunksOf(arns, maxTaggedArns).map((chunk) => inHalves(chunk, request, (error) => isCode(error, ...notFound))),
    );
    const described = answers.flat().flatMap(({ TagDescriptions = [] }) => TagDescriptions);
    return new Map(described.map(({ ResourceArn = "", Tags: tags }) => [ResourceArn, fromAwsTags(tags)]));
  }

  /** The target groups that a load balancer forwards to, or all of the region. */
  async groups(balancerArn: string | undefined, callScope: CallScope): Promise<readonly SeenGroup[]> {
    const found = await orNone(["TargetGroupNotFound", "LoadBalancerNotFound"], [], async () =>
      readAll(async (token) => {
        const { TargetGroups = [], NextMarker } = await this.#aws.elb(callScope, (client, options) =>
          client.send(
            new DescribeTargetGroupsCommand({ LoadBalancerArn: balancerArn, Marker: token, PageSize: pageSize }),
            options,
          ),
        );
        return { items: TargetGroups, next: NextMarker };
      }),
    );
    return found.flatMap(knownGroup);
  }

  async groupNamed(name: string, callScope: CallScope): Promise<SeenGroup | undefined> {
    const { TargetGroups = [] } = await orNone(["TargetGroupNotFound"], { $metadata: {} }, async () =>
      this.#aws.elb(callScope, (client, options) =>
        client.send(new DescribeTargetGroupsCommand({ Names: [name] }), options),
      ),
    );
    return TargetGroups.flatMap(knownGroup)[0];
  }

  async listeners(balancerArn: string, callScope: CallScope): Promise<readonly SeenListener[]> {
    const found = await readAll(async (token) => {
      const { Listeners = [], NextMarker } = await this.#aws.elb(callScope, (client, options) =>
        client.send(new DescribeListenersCommand({ LoadBalancerArn: balancerArn, Marker: token }), options),
      );
      return { items: Listeners, next: NextMarker };
    });
    return found.flatMap((details) => {
      const { ListenerArn: arn, Port: port } = details;
      return arn === undefined || port === undefined ? [] : [{ arn, port, details }];
    });
  }

  /** Ids of the machines in a group; those that are leaving it are not. */
  async targets(groupArn: string, callScope: CallScope): Promise<readonly string[]> {
    const { TargetHealthDescriptions = [] } = await orNone(["TargetGroupNotFound"], { $metadata: {} }, async () =>
      this.#aws.elb(callScope, (client, options) =>
        client.send(new DescribeTargetHealthCommand({ TargetGroupArn: groupArn }), options),
      ),
    );
    return TargetHealthDescriptions.flatMap(({ Target, TargetHealth }) =>
      Target?.Id === undefined || TargetHealth?.State === "draining" ? [] : [Target.Id],
    );
  }

  /** Security groups with the ownership tags of a cluster or of one of its Services. */
  async ownedSecurityGroups(clusterId: string, serviceUid: string | undefined, callScope: CallScope) {
    const filters = [
      { Name: `tag:${clusterIdTag}`, Values: [clusterId] },
      ...(serviceUid === undefined ? [] : [{ Name: `tag:${serviceUidTag}`, Values: [serviceUid] }]),
    ];
    return this.#securityGroups({ Filters: filters }, callScope);
  }

  /** Security groups that any of the values fits. */
  async securityGroupsWith(
    name: "group-id" | "group-name" | "ip-permission.group-id" | "egress.ip-permission.group-id",
    values: readonly string[],
    callScope: CallScope,
  ): Promise<readonly SecurityGroup[]> {
    if (values.length === 0) return [];
    return this.#securityGroups({ Filters: [{ Name: name, Values: [...values] }] }, callScope);
  }

  async #securityGroups(
    by: { readonly Filters: { Name: string; Values: string[] }[] },
    callScope: CallScope,
  ): Promise<readonly SecurityGroup[]> {
    return readAll(async (token) => {
      const { SecurityGroups = [], NextToken } = await this.#aws.ec2(callScope, (client, options) =>
        client.send(new DescribeSecurityGroupsCommand({ ...by, NextToken: token, MaxResults: 1000 }), options),
      );
      return { items: SecurityGroups, next: NextToken };
    });
  }

  #balancerPage(callScope: CallScope) {
    return async (token: string | undefined) => {
      const { LoadBalancers = [], NextMarker } = await this.#aws.elb(callScope, (client, options) =>
        client.send(new DescribeLoadBalancersCommand({ Marker: token, PageSize: pageSize }), options),
      );
      return { items: LoadBalancers, next: NextMarker };
    };
  }

  /** With their tags, without those that were deleted after they were listed. */
  async tagged(found: readonly LoadBalancer[], callScope: CallScope): Promise<readonly SeenBalancer[]> {
    const arns = found.flatMap(({ LoadBalancerArn }) => (LoadBalancerArn === undefined ? [] : [LoadBalancerArn]));
    const tags = await this.tags(arns, callScope);
    return found.flatMap((details) => {
      const { LoadBalancerArn: arn = "", LoadBalancerName: name } = details;
      const own = tags.get(arn);
      return own === undefined || name === undefined ? [] : [{ arn, name, details, tags: own }];
    });
  }
}

function isNetwork({ Type }: LoadBalancer): boolean {
  return Type === "network";
}

function knownGroup(details: TargetGroup): readonly SeenGroup[] {
  const { TargetGroupArn: arn, TargetGroupName: name } = details;
  return arn === undefined || name === undefined ? [] : [{ arn, name, details }];
}

/** These codes say that there is no such object. They are the answer to a question by name, of an account that is known to be the right one. */
async function orNone<Found>(codes: readonly string[], none: Found, ask: () => Promise<Found>): Promise<Found> {
  try {
    return await ask();
  } catch (error) {
    if (isCode(error, ...codes)) return none;
    throw error;
  }
}
