import { expect, test } from "vitest";
import { exportedTraceId, parseTraceparent } from "./trace-context.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";

test.each([
  ["one that is exported", `00-${trace}-${span}-01`, { traceId: trace, spanId: span, flags: 1 }],
  ["one that is not", `00-${trace}-${span}-00`, { traceId: trace, spanId: span, flags: 0 }],
  ["a later version of the same form", `cc-${trace}-${span}-03`, { traceId: trace, spanId: span, flags: 3 }],
])("parseTraceparent() reads %s", (_what, text, wanted) => {
  expect(parseTraceparent(text)).toEqual(wanted);
});

test.each([
  ["nothing", ""],
  ["the invalid version", `ff-${trace}-${span}-01`],
  ["a trace of zeros", `00-${"0".repeat(32)}-${span}-01`],
  ["a span of zeros", `00-${trace}-${"0".repeat(16)}-01`],
  ["capitals", `00-${trace.toUpperCase()}-${span}-01`],
  ["a part too many", `00-${trace}-${span}-01-x`],
  ["something else", "not a trace context"],
])("parseTraceparent() takes %s for none", (_what, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test.each([
  ["the id of a trace that is exported", `00-${trace}-${span}-01`, trace],
  ["none for one that is not", `00-${trace}-${span}-00`, undefined],
  ["none without trace context", undefined, undefined],
])("exportedTraceId() answers %s", (_what, traceparent, wanted) => {
  expect(exportedTraceId(traceparent)).toBe(wanted);
});
