import { expect, test } from "vitest";
import { tracingHeaderProblems } from "./tracing-options.ts";

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
  ["a broken code", "authorization=hunter2%zz", "header 1 (authorization) has a percent sign that begins no code"],
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
