import { at, listOf } from "../../../support/kube.ts";
import type { Program, ProgramOptions } from "../../../support/program.ts";
import { AwsAccount } from "./aws-account.ts";
import { startAws } from "./emulated-aws.ts";
import type { EmulatedCloud } from "./emulated-cloud.ts";

/** What the programs run in, and end with. */
interface Harness {
  readonly directory: string;
  run(options: ProgramOptions): Program;
}

/** The emulated AWS, and the provider of providers/aws over it. */
export interface OwnAws {
  readonly cloud: EmulatedCloud;
  readonly account: AwsAccount;
  readonly routeTable: string;
  readonly vpc: string;
  /** Of the emulator. */
  readonly url: string;
  /** The environment of the provider, as its options are read from it. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts the provider on the socket of the harness, and waits until it is ready. */
  readonly startSidecar: (env?: Readonly<Record<string, string>>) => Promise<Program>;
}

/** Where the provider of a harness listens. */
export function socketOf({ directory }: Pick<Harness, "directory">): string {
  return `unix://${directory}/provider.sock`;
}

export async function startOwnAws(harness: Harness): Promise<OwnAws> {
  const { cloud, sidecar, of } = await startAws(harness);
  const account = new AwsAccount(of("url"));
  const filters = [{ Name: "group-name", Values: ["nodes"] }];
  const groups = listOf(at(await account.ec2("describe_security_groups", { Filters: filters }), "SecurityGroups"));
  const env = {
    ...sidecar.env,
    AWS_REGION: of("region"),
    CLOUDWIRE_AWS_VPC_ID: of("vpc"),
    CLOUDWIRE_AWS_NODE_SECURITY_GROUP: String(groups[0]?.["GroupId"]),
    CLOUDWIRE_AWS_ROUTE_TABLE: of("routeTable"),
    CLOUDWIRE_AWS_POD_CIDR: "10.120.0.0/16 2001:db8::/32",
  };
  return {
    cloud,
    account,
    routeTable: of("routeTable"),
    vpc: of("vpc"),
    url: of("url"),
    env,
    startSidecar: async (more = {}) => {
      const source = "providers/aws/src/main.ts";
      const program = harness.run({ source, args: [`--endpoint=${socketOf(harness)}`], env: { ...env, ...more } });
      await program.said(/^provider ready/m, 60_000);
      return program;
    },
  };
}
