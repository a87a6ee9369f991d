import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { Client, credentials, status as grpc } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { absent } from "../../results/results.ts";
import { createLogger } from "../../telemetry/log.ts";
import { invoke } from "../../../test/support/invoke.ts";
import { basics, temporaryDirectory } from "../../../test/support/serve-for-test.ts";
import type { TransportSecurity } from "./server-credentials.ts";
import { startProvider } from "../start-provider.ts";

const { methods } = CloudProviderDefinition;
const directory = join(import.meta.dirname, "..", "..", "..", "test", "certificates");
const file = (name: string) => join(directory, name);
const tls = { certFile: file("server.pem"), keyFile: file("server.key"), clientCaFile: file("authority.pem") };

const start = async (security: TransportSecurity, host = "127.0.0.1") => {
  const provider = await startProvider(
    { ...basics, instances: { get: () => absent("LOOKUP_MISS") } },
    {
      endpoint: { kind: "tcp", host, port: 0 },
      log: createLogger({ level: "error", write: () => undefined, now: () => new Date() }),
      drainMs: 200,
      ...security,
    },
  );
  onTestFinished(() => provider.close());
  return provider;
};

const status = async (address: string, channel: ReturnType<typeof credentials.createInsecure>) => {
  const client = new Client(address, channel, { "grpc.enable_http_proxy": 0 });
  onTestFinished(() => client.close());
  return invoke(client, methods.getProviderStatus, {}, { deadlineMs: 3_000 });
};

const secure = async (name?: string) => {
  const pem = name ? await Promise.all([file(`${name}.key`), file(`${name}.pem`)].map((path) => readFile(path))) : [];
  return credentials.createSsl(await readFile(file("authority.pem")), ...pem);
};

describe("a TCP endpoint", () => {
  test("serves a client with a certificate of the authority, without reflection", async () => {
    const { address } = await start({ tls });
    expect(await status(address, await secure("client"))).toMatchObject({ kind: "ok" });
  });

  test.each([
    ["without certificate", undefined],
    ["with a certificate of another authority", "stranger"],
  ])("refuses a client %s", async (_title, name) => {
    const { address } = await start({ tls });
    const outcome = await status(address, await secure(name));
    expect(outcome.kind === "error" && [grpc.UNAVAILABLE, grpc.DEADLINE_EXCEEDED]).toContain(
      outcome.kind === "error" && outcome.code,
    );
  });

  test("serves plaintext on loopback when configured", async () => {
    const { address } = await start({ insecureLoopback: true });
    expect(await status(address, credentials.createInsecure())).toMatchObject({ kind: "ok" });
  });

  test.each([
    ["plaintext", {}, "127.0.0.1", "needs TLS with client certificates"],
    ["plaintext beyond loopback", { insecureLoopback: true }, "0.0.0.0", "plaintext is served on loopback only"],
    [
      "a file that is missing",
      { tls: { ...tls, keyFile: "/nowhere.key" } },
      "127.0.0.1",
      "/nowhere.key cannot be read",
    ],
  ])("is refused for %s", async (_title, security, host, problem) => {
    await expect(start(security, host)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      problems: [expect.stringContaining(problem)],
    });
  });

  test("reports every file that cannot be used", async () => {
    const path = join(await temporaryDirectory(), "missing.pem");
    const wrong = { certFile: path, keyFile: file("README.md"), clientCaFile: tls.clientCaFile };
    await expect(start({ tls: wrong })).rejects.toMatchObject({
      problems: [`${path} cannot be read`, `${file("README.md")} is not a PEM file`],
    });
  });
});
