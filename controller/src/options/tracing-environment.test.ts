import { expect, test } from "vitest";
import { readTracingEnvironment } from "./tracing-environment.ts";

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
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "2",
  };
  expect(readTracingEnvironment(environment)).toEqual({
    kind: "invalid",
    problems: [
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: is "http/protobuf"; only grpc is spoken, on port 4317 as a rule',
      'OTEL_TRACES_EXPORTER: is "zipkin", neither otlp nor none',
      'OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" has to begin with http:// or https://',
      'OTEL_TRACES_SAMPLER_ARG: is "2", not a number from 0 to 1',
    ],
  });
});

test("readTracingEnvironment() refuses a sampler that needs a service of its own", () => {
  const [problem] = problemsOf({ OTEL_TRACES_SAMPLER: "jaeger_remote" });
  expect(problem).toMatch(/^OTEL_TRACES_SAMPLER: is "jaeger_remote", not one of always_on, /);
});

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  const reading = readTracingEnvironment(environment);
  return reading.kind === "invalid" ? reading.problems : [];
}
