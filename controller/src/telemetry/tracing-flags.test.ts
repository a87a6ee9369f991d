import { expect, test } from "vitest";
import { readTracing } from "./tracing-options.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://variable:4317" };
const SAMPLER = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" };

/** An option that names a file with that text, and nothing else to be read. */
function given(text: string | undefined) {
  const readText = (path: string): string => {
    if (path === "tracing.yaml" && text !== undefined) return HEAD + text;
    throw new Error(`ENOENT, open '${path}'`);
  };
  return { options: { tracingConfigFile: text === undefined ? "" : "tracing.yaml" }, readText };
}

const always = { isParentBased: true, ratio: 1 };
const never = { isParentBased: true, ratio: 0 };

test.each([
  ["none without a word", undefined, {}, undefined],
  ["none by a sampler alone", undefined, SAMPLER, undefined],
  ["none, whatever protocol is set for all", undefined, { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, undefined],
  ["all by the environment's endpoint", undefined, ENDPOINT, { endpoint: "https://variable:4317", sampling: always }],
  [
    "the environment's share",
    undefined,
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "https://variable:4317", sampling: { isParentBased: false, ratio: 0.5 } },
  ],
  ["none of its own by an empty file", "", {}, { endpoint: "http://localhost:4317", sampling: never }],
  [
    "what the file says, whatever the environment does",
    "endpoint: file:4317\nsamplingRatePerMillion: 250000\n",
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "http://file:4317", sampling: { isParentBased: true, ratio: 0.25 } },
  ],
  [
    "what the file leaves open as the environment says",
    "",
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "https://variable:4317", sampling: { isParentBased: false, ratio: 0.5 } },
  ],
  [
    "none by a file where OpenTelemetry is switched off",
    "samplingRatePerMillion: 1\n",
    { OTEL_SDK_DISABLED: "true" },
    undefined,
  ],
])("readTracing() asks for %s", (_what, file, environment, value) => {
  const { options, readText } = given(file);
  expect(readTracing(options, environment, readText)).toEqual({ value, problems: [] });
});

test.each([
  {
    what: "a file that is not there",
    options: { tracingConfigFile: "gone.yaml" },
    environment: {},
    problems: [{ where: "--tracing-config-file", what: "gone.yaml: cannot be read: ENOENT, open 'gone.yaml'" }],
  },
  {
    what: "files of the exporter that cannot be read, and a variable that cannot be followed",
    options: { tracingConfigFile: "" },
    environment: {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_CERTIFICATE: "a.pem",
      OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: "a.key",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    },
    problems: [
      { where: "OTEL_EXPORTER_OTLP_PROTOCOL", what: 'is "http/json"; only grpc is spoken, on port 4317 as a rule' },
      { where: "OTEL_EXPORTER_OTLP_CERTIFICATE", what: "cannot be read: ENOENT, open 'a.pem'" },
      { where: "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", what: "cannot be read: ENOENT, open 'a.key'" },
    ],
  },
])("readTracing() refuses $what", ({ options, environment, problems }) => {
  expect(readTracing(options, environment, given(undefined).readText)).toEqual({ value: undefined, problems });
});

test("readTracing() tells every problem of a file", () => {
  const { options, readText } = given("endpoint: unix:///run/x.sock\nrate: 1\n");
  expect(readTracing(options, {}, readText)).toEqual({
    value: undefined,
    problems: [
      { where: "--tracing-config-file", what: "tracing.yaml: rate: is not a field of TracingConfiguration" },
      { where: "--tracing-config-file", what: expect.stringMatching(/^tracing\.yaml: endpoint: .* begins with unix:/) },
    ],
  });
});
