import { expect, test } from "vitest";
import { parseTracingFile } from "./tracing-options.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n";

test.each([
  ["both fields", "endpoint: collector:4317\nsamplingRatePerMillion: 100\n", "http://collector:4317", 100],
  ["neither, as kube-apiserver does", "", undefined, undefined],
  ["fields without a value", "endpoint:\nsamplingRatePerMillion:\n", undefined, undefined],
])("parseTracingFile() takes %s", (_what, text, endpoint, samplingRatePerMillion) => {
  expect(parseTracingFile(HEAD + text)).toEqual({ kind: "settings", settings: { endpoint, samplingRatePerMillion } });
});

test.each([
  ["a rate above a million", `${HEAD}samplingRatePerMillion: 1000001\n`, ["samplingRatePerMillion: is 1000001"]],
  ["a rate with a fraction", `${HEAD}samplingRatePerMillion: 0.5\n`, ["samplingRatePerMillion: is 0.5"]],
  ["a rate that is text", `${HEAD}samplingRatePerMillion: "1"\n`, ['samplingRatePerMillion: is "1"']],
  ["an endpoint that is none", `${HEAD}endpoint: 4317\n`, ["endpoint: is not a text"]],
  ["another kind", "apiVersion: v1\nkind: Node\n", ['kind: is "Node"', 'apiVersion: is "v1"']],
  ["an unknown field", `${HEAD}samplingRate: 1\n`, ["samplingRate: is not a field of TracingConfiguration"]],
  ["a list", "- 1\n", ["holds no TracingConfiguration"]],
  ["no YAML", "a: [", ["Flow sequence"]],
])("parseTracingFile() tells every problem of %s", (_what, text, wanted) => {
  const problems = wanted.map((what) => expect.stringContaining(what));
  expect(parseTracingFile(text)).toEqual({ kind: "invalid", problems });
});
