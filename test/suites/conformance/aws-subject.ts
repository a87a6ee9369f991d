import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { at } from "../../support/kube.ts";
import { startOwnAws } from "../languages/support/own-aws.ts";
import type { Host, Started } from "./subject.ts";

const CANARY = "canary-secret-word";
const SIDECAR = fileURLToPath(new URL("../../../providers/aws/src/main.ts", import.meta.url));

/** The provider of this repository for AWS, and an emulator that fails as the kit requests. */
export async function startAwsSubject(host: Host): Promise<Started> {
  const { account, cloud, env, url } = await startOwnAws(host);
  const [first, second, gone, stopped] = [
    await cloud.run("us-east-1a"),
    await cloud.run("us-east-1b"),
    await cloud.run("us-east-1a"),
    await cloud.run("us-east-1b"),
  ];
  await cloud.terminate(gone);
  await account.ec2("stop_instances", { InstanceIds: [stopped.id] });
  const volume = await account.ec2("create_volume", { AvailabilityZone: "us-east-1a", Size: 1 });
  const hook = (what: string, body: object) => ({
    http: {
      url: `${url}/emulator/${what}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    },
  });
  const onMachine = (action: string) => hook("named", { name: "${CONFORMANCE_NODE_NAME}", action });
  const fault = (kind: string) => hook("fault", { kind });
  const clear = hook("clear", {});
  // The provider's keys are in a file, as in a mounted Secret, so that they can become others.
  const file = join(host.directory, "credentials");
  const keys = (key: string) => hook("rotate", { file, key, secret: CANARY });
  await writeFile(file, `[default]\naws_access_key_id = first\naws_secret_access_key = ${CANARY}\n`);
  const { AWS_ACCESS_KEY_ID: _key, AWS_SECRET_ACCESS_KEY: _secret, ...settings } = env;
  const config = {
    instance: {
      providerId: `aws:///${first.zone}/${first.id}`,
      nodeName: first.name,
      type: "m5.large",
      zone: first.zone,
      region: "us-east-1",
      addresses: [first.address],
    },
    otherInstance: { providerId: `aws:///${second.zone}/${second.id}`, nodeName: second.name },
    stoppedProviderId: `aws:///${stopped.zone}/${stopped.id}`,
    terminatedProviderId: `aws:///${gone.zone}/${gone.id}`,
    absentProviderId: "aws:///us-east-1a/i-00000000000000000",
    malformedIds: ["aws:///us-east-1a/vol-01234567"],
    volume: { handle: String(at(volume, "VolumeId")), zones: ["us-east-1a"], region: "us-east-1" },
    absentVolumeHandle: "vol-00000000000000000",
    malformedVolumeHandle: "i-01234567",
    routeCidrs: ["10.120.1.0/24", "10.120.2.0/24"],
    canarySecret: CANARY,
    loadBalancer: { timeoutSeconds: 20 },
    testCloud: url,
    hooks: {
      instanceCreate: onMachine("create"),
      instanceStop: onMachine("stop"),
      instanceStart: onMachine("start"),
      instanceTerminate: onMachine("terminate"),
      cloudBlock: fault("cut"),
      cloudUnblock: clear,
      cloudFault429: hook("throttle", { rate: 0.001, burst: 0 }),
      cloudFault500: fault("fail"),
      cloudFaultHang: fault("hang"),
      cloudFaultQuota: fault("quota"),
      cloudFaultClear: clear,
      // EC2 answers for all zones or for none.
      zoneOutage: fault("unreadable"),
      zoneRestore: clear,
      credRevoke: fault("deny"),
      credRotate: keys("second"),
      credRestore: keys("first"),
      cloudCallCount: { http: { method: "GET", url: `${url}/emulator/callCount` } },
    },
  };
  return {
    command: [process.execPath, "--conditions=development", SIDECAR],
    env: { ...settings, AWS_SHARED_CREDENTIALS_FILE: file, CLOUDWIRE_AWS_WATCH_INTERVAL: "10" },
    config: JSON.stringify(config),
  };
}
