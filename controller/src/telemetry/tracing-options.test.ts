import { describe, expect, test } from "vitest";
import {
  parseTracingFile,
  readEndpoint,
  readTracing,
  readTracingEnvironment,
  tracingHeaderProblems,
} from "./tracing-options.ts";

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
  expect(readTracingEnvironment(environment)).toEqual({ value: settings, problems: [] });
});

test("readTracingEnvironment() reports every problem with the name of the variable", () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
    OTEL_TRACES_EXPORTER: "zipkin",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer hunter2%0A",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "2",
  };
  expect(readTracingEnvironment(environment)).toEqual({
    value: undefined,
    problems: [
      {
        where: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        what: 'is "http/protobuf"; only grpc is supported, usually on port 4317',
      },
      { where: "OTEL_TRACES_EXPORTER", what: 'is "zipkin", neither otlp nor none' },
      { where: "OTEL_EXPORTER_OTLP_ENDPOINT", what: '"collector:4317" does not begin with http:// or https://' },
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
    value: undefined,
    problems: [
      { where: "OTEL_TRACES_SAMPLER", what: expect.stringMatching(/^is "jaeger_remote", not one of always_on, /) },
    ],
  });
});

describe("tracing flags", () => {
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
        { where: "OTEL_EXPORTER_OTLP_PROTOCOL", what: 'is "http/json"; only grpc is supported, usually on port 4317' },
        { where: "OTEL_EXPORTER_OTLP_CERTIFICATE", what: "cannot be read: ENOENT, open 'a.pem'" },
        { where: "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", what: "cannot be read: ENOENT, open 'a.key'" },
      ],
    },
  ])("readTracing() refuses $what", ({ options, environment, problems }) => {
    expect(readTracing(options, environment, given(undefined).readText)).toEqual({ value: undefined, problems });
  });

  test("readTracing() reports every problem of a file", () => {
    const { options, readText } = given("endpoint: unix:///run/x.sock\nrate: 1\n");
    expect(readTracing(options, {}, readText)).toEqual({
      value: undefined,
      problems: [
        { where: "--tracing-config-file", what: "tracing.yaml: rate: is not a field of TracingConfiguration" },
        {
          where: "--tracing-config-file",
          what: expect.stringMatching(/^tracing\.yaml: endpoint: .* begins with unix:/),
        },
      ],
    });
  });
});

describe("tracing file", () => {
  const HEAD = "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n";

  test.each([
    ["both fields", "endpoint: collector:4317\nsamplingRatePerMillion: 100\n", "http://collector:4317", 100],
    ["neither, as kube-apiserver does", "", undefined, undefined],
    ["fields without a value", "endpoint:\nsamplingRatePerMillion:\n", undefined, undefined],
  ])("parseTracingFile() takes %s", (_what, text, endpoint, samplingRatePerMillion) => {
    expect(parseTracingFile(HEAD + text)).toEqual({ value: { endpoint, samplingRatePerMillion }, problems: [] });
  });

  test.each([
    ["a rate above a million", `${HEAD}samplingRatePerMillion: 1000001\n`, ["samplingRatePerMillion: is 1000001"]],
    ["a rate with a fraction", `${HEAD}samplingRatePerMillion: 0.5\n`, ["samplingRatePerMillion: is 0.5"]],
    ["a rate that is text", `${HEAD}samplingRatePerMillion: "1"\n`, ['samplingRatePerMillion: is "1"']],
    ["an endpoint that is none", `${HEAD}endpoint: 4317\n`, ["endpoint: is not a string"]],
    ["another kind", "apiVersion: v1\nkind: Node\n", ['kind: is "Node"', 'apiVersion: is "v1"']],
    ["an unknown field", `${HEAD}samplingRate: 1\n`, ["samplingRate: is not a field of TracingConfiguration"]],
    ["a list", "- 1\n", ["contains no TracingConfiguration"]],
    ["no YAML", "a: [", ["Flow sequence"]],
  ])("parseTracingFile() reports every problem of %s", (_what, text, wanted) => {
    const problems = wanted.map((what) => expect.stringContaining(what));
    expect(parseTracingFile(text)).toEqual({ value: undefined, problems });
  });
});

describe("tracing headers", () => {
  const NAME = "OTEL_EXPORTER_OTLP_HEADERS";

  test.each([
    ["none", undefined],
    ["an empty text", " "],
    ["a token", "Authorization=Bearer hunter2"],
    ["several, in percent-encoding", "authorization=Bearer%20a=b, x-tenant=a%2Cb,"],
  ])("tracingHeaderProblems() takes %s", (_what, headers) => {
    expect(tracingHeaderProblems({ [NAME]: headers })).toEqual([]);
  });

  test.each([
    [
      "a letter that is not ASCII",
      "authorization=Bearer hünter2",
      "header 1 (authorization) holds a line break or a cha",
    ],
    ["a line break", "a=b,authorization=Bearer hunter2%0A", "header 2 (authorization) holds a line break or a cha"],
    ["a broken code", "authorization=hunter2%zz", "header 1 (authorization) has a percent sign without a code"],
    ["no key", "=hunter2", "header 1 is not key=value"],
    ["no value", "a=b,hunter2", "header 2 is not key=value; in a value write a comma as %2C"],
    ["a key that cannot be sent", "hunter2 key=b", "header 1 has no key that gRPC sends"],
    ["a key of bytes", "trace-bin=hunter2", "header 1 has no key that gRPC sends"],
  ])("tracingHeaderProblems() refuses %s without a word of the value", (_what, headers, problem) => {
    const problems = tracingHeaderProblems({ [NAME]: headers });
    expect(problems).toEqual([{ where: NAME, what: expect.stringContaining(problem) }]);
    expect(JSON.stringify(problems)).not.toMatch(/h[uü]nter2/);
  });

  test("tracingHeaderProblems() reads the headers of traces, too", () => {
    const environment = { OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=%0A", [NAME]: "b=%0A" };
    expect(tracingHeaderProblems(environment)).toEqual([
      { where: "OTEL_EXPORTER_OTLP_TRACES_HEADERS", what: expect.stringMatching(/^header 1 \(a\)/) },
      { where: NAME, what: expect.stringMatching(/^header 1 \(b\)/) },
    ]);
  });
});

describe("tracing settings", () => {
  test.each([
    ["collector:4317", "http://collector:4317"],
    ["127.0.0.1:4317", "http://127.0.0.1:4317"],
    ["[::1]:4317", "http://[::1]:4317"],
    ["dns:///collector.observability:4317", "http://collector.observability:4317"],
    ["http://collector:80/", "http://collector:80"],
    ["https://collector.example.com:443", "https://collector.example.com:443"],
  ])("readEndpoint() takes %s", (text, url) => {
    expect(readEndpoint(text)).toEqual({ kind: "value", value: url });
  });

  test.each([
    ["", "not a host and a port"],
    ["collector", "has no port"],
    ["https://collector.example.com", "has no port"],
    ["http://collector:4318/v1/traces", "not a host and a port"],
    ["http://user:secret@collector:4317", '"http://***@collector:4317" is not a host and a port'],
    ["ftp://user:secret@collector", '"ftp://***@collector" begins with ftp://'],
    ["http://collector:4317?x=y", "not a host and a port"],
    ["unix:///run/collector.sock", "begins with unix://"],
    ["ftp://collector:4317", "begins with ftp://"],
    ["collector:port", "not a host and a port"],
  ])("readEndpoint() refuses %s", (text, why) => {
    expect(readEndpoint(text)).toEqual({ kind: "problem", problem: expect.stringContaining(why) });
  });
});
