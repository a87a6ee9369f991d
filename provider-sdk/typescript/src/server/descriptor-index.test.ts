import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@cloudwire/proto/descriptor-set";
import { ServerReflectionDefinition } from "@cloudwire/proto/grpc/reflection/v1/reflection";
import { describe, expect, test } from "vitest";
import type { DuplexMethod, RpcService } from "./rpc/method.ts";
import { type DescribedFile, indexDescriptors } from "./descriptor-index.ts";
import { createReflectionServices } from "./reflection.ts";

const index = indexDescriptors(readDescriptorSet());

const found = (file: DescribedFile | undefined): DescribedFile => file ?? expect.fail("the file is known");

/** The order in which a registry takes files. */
const importsFirst = (files: readonly DescribedFile[]): FileDescriptorProto[] => {
  const done = new Map<string, FileDescriptorProto>();
  const visit = (file: DescribedFile): void => {
    if (done.has(file.name)) return;
    for (const name of file.dependencies) files.filter((each) => each.name === name).forEach(visit);
    done.set(file.name, fromBinary(FileDescriptorProtoSchema, file.bytes));
  };
  files.forEach(visit);
  return [...done.values()];
};

describe("indexDescriptors()", () => {
  test.each([
    ["cloudprovider.v1.CloudProvider", "cloudprovider/v1/cloud_provider.proto"],
    ["cloudprovider.v1.CloudProvider.EnsureLoadBalancer", "cloudprovider/v1/cloud_provider.proto"],
    ["cloudprovider.v1.LoadBalancerSpec", "cloudprovider/v1/load_balancer.proto"],
    ["cloudprovider.v1.LoadBalancerSpec.ports", "cloudprovider/v1/load_balancer.proto"],
    ["cloudprovider.v1.NodeSelection.source", "cloudprovider/v1/load_balancer.proto"],
    ["cloudprovider.v1.PROTOCOL_TCP", "cloudprovider/v1/identity.proto"],
    ["cloudprovider.v1.rules", "cloudprovider/v1/options.proto"],
    ["grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"],
    ["grpc.reflection.v1.ServerReflection", "grpc/reflection/v1/reflection.proto"],
    ["google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
  ])("finds %s", (symbol, file) => {
    expect(index.bySymbol(symbol)?.name).toBe(file);
  });

  test.each([
    "cloudprovider.v1.CloudProvider",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
  ])("has everything that %s needs in its closure: a registry of nothing else builds", (symbol) => {
    const files = index.closure(found(index.bySymbol(symbol)));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
    expect(registry.getService(symbol)?.typeName).toBe(symbol);
    expect(files[0]?.name).toBe(index.bySymbol(symbol)?.name);
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
  });

  test("knows extensions by number, and that a message has none", () => {
    const { fieldOptions, unknown } = {
      fieldOptions: index.extensionNumbers("google.protobuf.FieldOptions"),
      unknown: index.extensionNumbers("google.protobuf.Nothing"),
    };
    expect(fieldOptions).toContain(50_510);
    expect(index.byExtension("google.protobuf.FieldOptions", 50_510)?.name).toBe("cloudprovider/v1/options.proto");
    expect([index.extensionNumbers("cloudprovider.v1.Route"), unknown]).toEqual([[], undefined]);
  });
});

/** The one method of a reflection service, which streams both ways. */
const duplexOf = (service: RpcService | undefined): DuplexMethod["run"] => {
  const method = service?.methods[0];
  if (method?.kind !== "duplex") throw new TypeError("reflection is one method that streams both ways");
  return method.run;
};

describe("createReflectionServices()", () => {
  test("sends imports once a stream, the file asked for always, and errors for what it does not know", async () => {
    const run = duplexOf(createReflectionServices({ services: ["a.B"], descriptors: async () => index })[0]);
    const { requestType, responseType } = ServerReflectionDefinition.methods.serverReflectionInfo;
    const asked = [
      { $case: "fileContainingSymbol" as const, value: "cloudprovider.v1.CloudProvider" },
      { $case: "fileByFilename" as const, value: "cloudprovider/v1/instance.proto" },
      { $case: "fileByFilename" as const, value: "nowhere.proto" },
      { $case: "listServices" as const, value: "" },
      { $case: "allExtensionNumbersOfType" as const, value: "nothing.Known" },
      undefined,
    ];
    async function* requests() {
      for (const messageRequest of asked) yield requestType.encode({ host: "", messageRequest }).finish();
    }
    const answers = [];
    const call = {
      method: "ServerReflectionInfo",
      mutation: false,
      requestId: "r",
      traceparent: undefined,
      signal: new AbortController().signal,
      deadlineMs: Number.MAX_SAFE_INTEGER,
    };
    for await (const bytes of run(requests(), call)) answers.push(responseType.decode(bytes).messageResponse);
    const sizes = answers.map((answer) =>
      answer?.$case === "fileDescriptorResponse" ? answer.value.fileDescriptorProto.length : answer?.$case,
    );
    expect(sizes).toEqual([
      index.closure(found(index.bySymbol("cloudprovider.v1.CloudProvider"))).length,
      1,
      "errorResponse",
      "listServicesResponse",
      "errorResponse",
      "errorResponse",
    ]);
  });
});
