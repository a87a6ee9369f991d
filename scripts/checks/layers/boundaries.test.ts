import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

describe("libraryFindings()", () => {
  test.each([
    ["undici", "kube/connection/transport.ts"],
    ["@grpc/grpc-js", "provider/connection/transport.ts"],
    ["fastify", "server/endpoints.ts"],
    ["@opentelemetry/core", "telemetry/otel-tracing.ts"],
    ["yaml", "options/config-file.ts"],
  ])("allows the values of %s in %s", (library, path) => {
    expect(messages({ [`controller/src/${path}`]: `import { a } from "${library}";` })).toEqual([]);
  });

  test.each([
    ["undici", "kube/http-client.ts", "kube/connection/"],
    ["@grpc/grpc-js", "provider/calls/session.ts", "provider/connection/"],
    ["fastify", "app/serving.ts", "server/"],
    ["prom-client", "workqueue/metrics.ts", "telemetry/"],
    ["@opentelemetry/api", "runtime/metrics.ts", "telemetry/"],
  ])("refuses the values of %s in %s, and allows its types", (library, path, only) => {
    const file = `controller/src/${path}`;
    expect(messages({ [file]: `import type { A } from "${library}";` })).toEqual([]);
    expect(messages({ [file]: `import { a } from "${library}";` })).toEqual([
      `${file}:1 imports ${library}: only ${only} may, which wraps it for the others`,
    ]);
  });
});

describe("wireFindings()", () => {
  test.each([
    ["messages", "@cloudwire/proto/cloudprovider/v1/instance", "provider/convert/instance.ts"],
    ["messages of others", "@cloudwire/proto/google/rpc/status", "provider/convert/errors.ts"],
    ["names of errors", "@cloudwire/proto/reasons", "provider/model/errors.ts"],
    ["the rule about provider IDs", "@cloudwire/proto/provider-ids", "util/values/provider-id.ts"],
    ["names of methods", "@cloudwire/proto/methods", "provider/observers/audit.ts"],
    ["messages in tests", "@cloudwire/proto/cloudprovider/v1/instance", "provider/calls/instances.test.ts"],
  ])("allows %s", (_sentence, specifier, path) => {
    expect(messages({ [`controller/src/${path}`]: `import type { A } from "${specifier}";` })).toEqual([]);
  });

  test.each([
    ["messages", "@cloudwire/proto/cloudprovider/v1/common", "provider/calls/session.ts", "provider/convert/"],
    ["messages", "@cloudwire/proto/cloudprovider/v1/volume", "provider/model/volume.ts", "provider/convert/"],
    [
      "names",
      "@cloudwire/proto/reasons",
      "controllers/node/plan.ts",
      "provider/convert/, provider/model/, provider/observers/",
    ],
  ])("refuses %s of %s in %s, types included", (what, specifier, path, only) => {
    const file = `controller/src/${path}`;
    expect(messages({ [file]: `import type { A } from "${specifier}";` })).toEqual([
      `${file}:1 imports ${what} of the contract from ${specifier}: only ${only} may`,
    ]);
  });
});
