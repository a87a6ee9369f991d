import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { absent } from "../results/results.ts";
import { invoke, openStream, streamEnd } from "../../test/support/invoke.ts";
import { basics, serveForTest } from "../../test/support/serve-for-test.ts";

const definition = { ...basics, instances: { get: () => absent("LOOKUP_MISS") } };
const run = promisify(execFile);

/** `buf curl`: a client in another language that knows a server by its reflection alone. */
const bufCurl = async (socketPath: string, ...args: readonly string[]): Promise<string> => {
  const transport = ["--protocol", "grpc", "--http2-prior-knowledge", "--unix-socket", socketPath];
  const { stdout } = await run("buf", ["curl", ...transport, ...args], { timeout: 30_000 });
  return stdout;
};

describe("server reflection", () => {
  test("lists every service and all their methods", async () => {
    const { socketPath } = await serveForTest(definition);
    const services = await bufCurl(socketPath, "--list-services", "http://localhost");
    expect(services.trim().split("\n")).toEqual([
      "cloudprovider.v1.CloudProvider",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
    const methods = (await bufCurl(socketPath, "--list-methods", "http://localhost")).trim().split("\n");
    expect(methods.filter((name) => name.startsWith("cloudprovider.v1.")).toSorted()).toEqual(
      Object.values(CloudProviderDefinition.methods)
        .map(({ name }) => `cloudprovider.v1.CloudProvider/${name}`)
        .toSorted(),
    );
    expect(methods).toContain("grpc.health.v1.Health/Check");
  });

  test.each(["grpc-v1", "grpc-v1alpha"])(
    "lets a client call with nothing else, timestamps read, over %s",
    async (version) => {
      const { socketPath, provider } = await serveForTest(definition);
      const method = "http://localhost/cloudprovider.v1.CloudProvider/GetProviderStatus";
      const answer = await bufCurl(socketPath, "--reflect-protocol", version, "-d", "{}", method);
      expect(JSON.parse(answer)).toMatchObject({
        bootId: provider.bootId,
        lastCloudSuccessTime: expect.stringMatching(/^\d{4}-/),
      });
      const health = await bufCurl(
        socketPath,
        "--reflect-protocol",
        version,
        "-d",
        "{}",
        "http://localhost/grpc.health.v1.Health/Check",
      );
      expect(JSON.parse(health)).toEqual({ status: "SERVING" });
    },
  );
});

describe("health", () => {
  const service = HealthDefinition.fullName;
  const { check, watch } = HealthDefinition.methods;

  test.each([[""], ["cloudprovider.v1.CloudProvider"]])("of service %j is serving", async (name) => {
    const { client } = await serveForTest(definition);
    expect(await invoke(client, check, { service: name }, { service })).toMatchObject({ response: { status: 1 } });
  });

  test("of a service that is not served is NOT_FOUND, and unknown in a watch", async () => {
    const { client } = await serveForTest(definition);
    expect(await invoke(client, check, { service: "other" }, { service })).toMatchObject({ code: grpc.NOT_FOUND });
    const stream = openStream(client, watch, { service: "other" }, { service });
    stream.on("error", () => undefined);
    const first = await new Promise((resolve) => {
      stream.once("data", resolve);
    });
    expect(first).toEqual({ status: 3 });
    stream.cancel();
  });

  test("is the same while the cloud is down: it is the process's", async () => {
    const { client } = await serveForTest({
      ...definition,
      check: () => {
        throw new Error("the cloud is down");
      },
    });
    expect(await invoke(client, check, {}, { service })).toMatchObject({ response: { status: 1 } });
  });

  test("turns to not serving when the provider closes, before the stream ends", async () => {
    const { client, provider } = await serveForTest(definition);
    const stream = openStream(client, watch, {}, { service });
    const seen: unknown[] = [];
    const first = new Promise((resolve) => {
      stream.once("data", resolve);
    });
    stream.on("data", (answer) => seen.push(answer));
    const end = streamEnd(stream);
    await first;
    await provider.close();
    expect(await end).toMatchObject({ code: grpc.UNAVAILABLE, reason: "PROVIDER_DRAINING" });
    expect(seen).toEqual([{ status: 1 }, { status: 2 }]);
  });
});
