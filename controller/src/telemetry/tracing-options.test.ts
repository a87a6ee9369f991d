import { expect, test } from "vitest";
import { readTracingEnvironment } from "./tracing-options.ts";

const NOTHING = { isDisabled: false, endpoint: undefined, sampling: undefined };
const DISABLED = { isDisabled: true, endpoint: undefined, sampling: undefined };
const URL = "http://collector:4317";

test.each([
  ["nothing", {}, NOTHING],
  ["empty variables", { OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_TRACES_SAMPLER: " " }, NOTHING],
  ["an endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: URL }, { ...NOTHING, endpoint: URL }],
  [
    "the endpoint of traces before that of all",
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: URL, OTEL_EXPORTER_OTLP_ENDPOINT: "http://other:4317" },
    { ...NOTHING, endpoint: URL },
  ],
  ["a sampler", { OTEL_TRACES_SAMPLER: "always_on" }, { ...NOTHING, sampling: { isParentBased: false, ratio: 1 } }],
  [
    "a sampler with its argument",
    { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
    { ...NOTHING, sampling: { isParentBased: true, ratio: 0.25 } },
  ],
  [
    "a sampler without it",
    { OTEL_TRACES_SAMPLER: "traceidratio" },
    { ...NOTHING, sampling: { isParentBased: false, ratio: 1 } },
  ],
  ["that there is no SDK, whatever else", { OTEL_SDK_DISABLED: "True", OTEL_EXPORTER_OTLP_ENDPOINT: "?" }, DISABLED],
  ["that nothing is exported", { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: URL }, DISABLED],
  ["the protocol that there is", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, NOTHING],
])("readTracingEnvironment() reads %s", (_what, environment, settings) => {
  expect(readTracingEnvironment(environment)).toEqual({ kind: "settings", settings });
});

test("readTracingEnvironment() tells every problem with the name of the variable", () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
    OTEL_TRACES_EXPORTER: "zipkin",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer hunter2%0A",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "2",
  };
  expect(readTracingEnvironment(environment)).toEqual({
    kind: "invalid",
    problems: [
      {
        where: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        what: 'is "http/protobuf"; only grpc is spoken, on port 4317 as a rule',
      },
      { where: "OTEL_TRACES_EXPORTER", what: 'is "zipkin", neither otlp nor none' },
      { where: "OTEL_EXPORTER_OTLP_ENDPOINT", what: '"collector:4317" has to begin with http:// or https://' },
      {
        where: "OTEL_EXPORTER_OTLP_HEADERS",
        what: "header 1 (authorization) holds a line break or a character that is not ASCII",
      },
      { where: "OTEL_TRACES_SAMPLER_ARG", what: 'is "2", not a number from 0 to 1' },
    ],
  });
});

test("readTracingEnvironment() refuses a sampler that needs a service of its own", () => {
  expect(readTracingEnvironment({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toEqual({
    kind: "invalid",
    problems: [
      { where: "OTEL_TRACES_SAMPLER", what: expect.stringMatching(/^is "jaeger_remote", not one of always_on, /) },
    ],
  });
});
