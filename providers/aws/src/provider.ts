import { DescribeVpcsCommand } from "@aws-sdk/client-ec2";
import { type CallRate, type ProviderDefinition, ProviderError } from "@cloudwire/provider-sdk";
import { Aws, type CallScope } from "./cloud/aws.ts";
import { Instances, type InstanceSettings } from "./instances/handlers.ts";
import { providerIdPrefix } from "./instances/provider-id.ts";
import { annotationSchemas, domain } from "./load-balancers/annotations.ts";
import { loadBalancerHandlers } from "./load-balancers/handlers.ts";
import type { LoadBalancerSettings } from "./load-balancers/tools.ts";
import { routeHandlers, type RouteSettings } from "./routes/handlers.ts";
import { volumeHandlers } from "./volumes.ts";

export interface AwsProviderOptions extends InstanceSettings, LoadBalancerSettings {
  /** Undefined: something else takes care of pod CIDRs, and routes are not claimed. */
  readonly routes?: RouteSettings | undefined;
  /** What EC2 leaves to this cluster. */
  readonly ec2CallRate: ServiceCallRate;
  /** What Elastic Load Balancing leaves to this cluster. */
  readonly elbCallRate: ServiceCallRate;
}

/** How often one service of AWS may be called. */
export type ServiceCallRate = Pick<CallRate, "cloudCallsPerSecond"> & { readonly burst: number };

/** The provider for Amazon Web Services, as the SDK serves it. */
export function createAwsProvider(options: AwsProviderOptions, nowMs: () => number = Date.now): ProviderDefinition {
  const { region, vpcId, routes, ec2CallRate, elbCallRate } = options;
  const aws = new Aws({ region, nowMs });
  const confirmAccount = async (callScope: CallScope): Promise<void> => void (await ownerOfVpc(aws, vpcId, callScope));
  const instances = new Instances(aws, { ...options, confirmAccount }, nowMs);
  return {
    name: domain,
    version: "0.1.0",
    idPrefix: providerIdPrefix,
    // The account behind the VPC: with another account's credentials the VPC is not there, and nothing is answered.
    scope: async (context) => `${await ownerOfVpc(aws, vpcId, context)}/${region}/${vpcId}`,
    // Nothing more to ask: the scope is read with every check and proves as much.
    check: () => ({
      rateLimits: [
        aws.budgets.ec2.toRateLimit(nowMs(), ec2CallRate.burst),
        aws.budgets.elb.toRateLimit(nowMs(), elbCallRate.burst),
      ],
    }),
    instances: instances.handlers,
    loadBalancers: loadBalancerHandlers(aws, instances.reader, options),
    ...(routes ? { routes: routeHandlers(aws, instances.reader, routes) } : {}),
    volumes: volumeHandlers(aws, region),
    annotations: annotationSchemas,
    limits: {
      callRates: [
        { classes: ["instances", "routes", "volumes"], ...ec2CallRate },
        { classes: ["loadBalancers"], ...elbCallRate },
      ],
    },
  };
}

async function ownerOfVpc(aws: Aws, vpcId: string, callScope: CallScope): Promise<string> {
  const filters = [{ Name: "vpc-id", Values: [vpcId] }];
  const { Vpcs = [] } = await aws.ec2(callScope, (client, options) =>
    client.send(new DescribeVpcsCommand({ Filters: filters }), options),
  );
  const owner = Vpcs[0]?.OwnerId;
  if (owner !== undefined) return owner;
  const message = `VPC ${vpcId} was not found: the credentials belong to another account, or --vpc-id or --region is wrong`;
  throw new ProviderError("CLOUD_SETUP_INVALID", message);
}
