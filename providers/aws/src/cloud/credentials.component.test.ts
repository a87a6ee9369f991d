import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DescribeAvailabilityZonesCommand } from "@aws-sdk/client-ec2";
import { afterEach, expect, test, vi } from "vitest";
import { Aws } from "./aws.ts";

afterEach(() => vi.unstubAllEnvs());

/** Answers every request as EC2 with nothing, and keeps which key has signed it. */
const startEc2 = async () => {
  const keys: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    keys.push(/Credential=([^/]+)/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    request.resume();
    response.setHeader("content-type", "text/xml");
    response.end("<DescribeAvailabilityZonesResponse><availabilityZoneInfo/></DescribeAvailabilityZonesResponse>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { keys, url: `http://127.0.0.1:${port}`, close: () => server.close() };
};

test("Aws signs with new keys a minute after their file has them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "aws-credentials-"));
  const file = join(directory, "credentials");
  const write = (key: string) => writeFile(file, `[default]\naws_access_key_id = ${key}\naws_secret_access_key = x\n`);
  const ec2 = await startEc2();
  try {
    const env = {
      AWS_ENDPOINT_URL: ec2.url,
      AWS_SHARED_CREDENTIALS_FILE: file,
      AWS_CONFIG_FILE: "/dev/null",
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_ACCESS_KEY_ID: "",
      AWS_SECRET_ACCESS_KEY: "",
      AWS_PROFILE: "",
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value === "" ? undefined : value);
    let aheadMs = 0;
    const aws = new Aws({ region: "us-east-1", nowMs: () => Date.now() + aheadMs });
    const ask = () =>
      aws.ec2({ signal: AbortSignal.timeout(30_000) }, (client, options) =>
        client.send(new DescribeAvailabilityZonesCommand({}), options),
      );
    await write("first-key");
    await ask();
    await write("second-key");
    aheadMs = 60_000;
    await ask();
    expect(ec2.keys).toEqual(["first-key", "second-key"]);
  } finally {
    ec2.close();
    await rm(directory, { recursive: true, force: true });
  }
});
