import { DescribeAvailabilityZonesCommand } from "@aws-sdk/client-ec2";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";

/** Ids of the region's zones: asked for once, and again when there is a zone that was not there then. */
export class ZoneIds {
  readonly #aws: AwsCalls;
  #known: ReadonlyMap<string, string> = new Map();

  constructor(aws: AwsCalls) {
    this.#aws = aws;
  }

  /** Ids by name, those of `zones` among them as far as AWS has them. */
  async of(zones: Iterable<string>, callScope: CallScope): Promise<ReadonlyMap<string, string>> {
    if ([...zones].every((zone) => this.#known.has(zone))) return this.#known;
    const { AvailabilityZones = [] } = await this.#aws.ec2(callScope, (client, options) =>
      client.send(new DescribeAvailabilityZonesCommand({}), options),
    );
    this.#known = new Map(AvailabilityZones.map(({ ZoneName = "", ZoneId = "" }) => [ZoneName, ZoneId]));
    return this.#known;
  }
}
