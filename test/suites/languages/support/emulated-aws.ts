import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { at } from "../../../support/kube.ts";
import type { Program, ProgramOptions } from "../../../support/program.ts";
import { type BridgedSidecar, inTree } from "./bridged-harness.ts";
import { EmulatedCloud } from "./emulated-cloud.ts";

/** AWS in a process of its own, and how the provider is pointed at it. */
export interface EmulatedAws {
  readonly cloud: EmulatedCloud;
  readonly sidecar: BridgedSidecar;
  /** What the emulator reports of itself: url, region, vpc, routeTable. */
  readonly of: (key: string) => string;
}

/** What it runs in, and ends with. */
interface Harness {
  readonly directory: string;
  run(options: ProgramOptions): Program;
}

/** Ends with the harness. */
export async function startAws(harness: Harness): Promise<EmulatedAws> {
  const emulator = harness.run({
    command: inTree("test/programs/emulators/.venv/bin/python"),
    args: [inTree("test/programs/emulators/aws.py")],
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  });
  const [, json = ""] = await emulator.said(/^ready (.*)$/m, 60_000);
  const about: unknown = JSON.parse(json);
  const of = (key: string) => String(at(about, key));
  const cloudConfig = join(harness.directory, "cloud.conf");
  // With a VPC, a subnet and the cluster's id the provider does not ask the machine that it runs on.
  await writeFile(
    cloudConfig,
    `[Global]
Region = ${of("region")}
VPC = ${of("vpc")}
SubnetID = ${of("subnet")}
RouteTableID = ${of("routeTable")}
KubernetesClusterID = ${of("cluster")}
`,
  );
  return {
    cloud: new EmulatedCloud(of("url")),
    of,
    sidecar: {
      name: "aws",
      args: [`--cloud-config=${cloudConfig}`, "--scope=emulated"],
      env: {
        AWS_ENDPOINT_URL: of("url"),
        AWS_ACCESS_KEY_ID: "provider",
        AWS_SECRET_ACCESS_KEY: "none",
        AWS_EC2_METADATA_DISABLED: "true",
        AWS_CONFIG_FILE: "/dev/null",
        AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
      },
    },
  };
}
