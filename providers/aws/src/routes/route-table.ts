import {
  CreateRouteCommand,
  CreateTagsCommand,
  DeleteRouteCommand,
  DeleteTagsCommand,
  DescribeRouteTablesCommand,
  ModifyInstanceAttributeCommand,
  ReplaceRouteCommand,
  type RouteTable as AwsRouteTable,
} from "@aws-sdk/client-ec2";
import { type Cluster, ProviderError } from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";
import { isCode } from "../cloud/errors.ts";
import { clusterIdTag, ownershipTags, fromAwsTags, type Tags, toAwsTags } from "../cloud/ownership.ts";
import { destinationOf, guestTag } from "./plan.ts";

/** The table and its owner. Routes have no tags, so the table is tagged with the cluster that uses it. */
export interface ReadTable {
  readonly details: AwsRouteTable;
  readonly tags: Tags;
}

/** The route table of the cluster's nodes. */
export class RouteTable {
  readonly id: string;
  readonly #aws: AwsCalls;

  constructor(aws: AwsCalls, id: string) {
    this.id = id;
    this.#aws = aws;
  }

  async read(callScope: CallScope): Promise<ReadTable> {
    const filters = [{ Name: "route-table-id", Values: [this.id] }];
    const { RouteTables = [] } = await this.#aws.ec2(callScope, (client, options) =>
      client.send(new DescribeRouteTablesCommand({ Filters: filters }), options),
    );
    const [details] = RouteTables;
    if (details) return { details, tags: fromAwsTags(details.Tags) };
    const message = `there is no route table ${this.id} in this account and region: check --route-table`;
    throw new ProviderError("CLOUD_SETUP_INVALID", message);
  }

  /** From now on the routes to pod CIDRs are the cluster's. */
  async claim(cluster: Cluster, callScope: CallScope): Promise<void> {
    const input = { Resources: [this.id], Tags: toAwsTags(ownershipTags(cluster)) };
    await this.#aws.ec2(callScope, (client, options) => client.send(new CreateTagsCommand(input), options));
  }

  /** The last of the cluster's routes has gone. */
  async release(cluster: Cluster, callScope: CallScope): Promise<void> {
    const input = { Resources: [this.id], Tags: Object.keys(ownershipTags(cluster)).map((Key) => ({ Key })) };
    await this.#aws.ec2(callScope, (client, options) => client.send(new DeleteTagsCommand(input), options));
  }

  /** Sets the owner of a route if it differs from the table's; undefined: removes that tag. */
  async mark(cidr: string, clusterId: string | undefined, callScope: CallScope): Promise<void> {
    const Key = guestTag(cidr);
    await this.#aws.ec2<unknown>(callScope, (client, options) =>
      clusterId === undefined
        ? client.send(new DeleteTagsCommand({ Resources: [this.id], Tags: [{ Key }] }), options)
        : client.send(new CreateTagsCommand({ Resources: [this.id], Tags: [{ Key, Value: clusterId }] }), options),
    );
  }

  async write(kind: "create" | "replace", cidr: string, instanceId: string, callScope: CallScope): Promise<void> {
    const input = { RouteTableId: this.id, InstanceId: instanceId, ...destinationOf(cidr) };
    await this.#aws.ec2<unknown>(callScope, (client, options) =>
      kind === "create"
        ? client.send(new CreateRouteCommand(input), options)
        : client.send(new ReplaceRouteCommand(input), options),
    );
  }

  async delete(cidr: string, callScope: CallScope): Promise<void> {
    const input = { RouteTableId: this.id, ...destinationOf(cidr) };
    try {
      await this.#aws.ec2(callScope, (client, options) => client.send(new DeleteRouteCommand(input), options));
    } catch (error) {
      if (!isCode(error, "InvalidRoute.NotFound")) throw error;
    }
  }

  /** By default an instance drops traffic to other addresses than its own. */
  async letForward(instanceId: string, callScope: CallScope): Promise<void> {
    const input = { InstanceId: instanceId, SourceDestCheck: { Value: false } };
    await this.#aws.ec2(callScope, (client, options) =>
      client.send(new ModifyInstanceAttributeCommand(input), options),
    );
  }
}

/** The cluster that owns the table's routes to pod CIDRs; undefined: none. */
export function ownerOf({ tags }: ReadTable): string | undefined {
  return tags[clusterIdTag];
}
