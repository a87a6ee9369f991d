import { expect, test } from "vitest";
import { metricReference } from "./metric-reference.ts";
import { problemsOf } from "./promql.ts";

const PAGE = `
| \`calls_total\` | counter |  | \`method\`, \`code\` | Calls. | ours |
| \`wait_seconds\` | histogram | s | \`queue\` | Waits. | ours |

| label | of | values |
| --- | --- | --- |
| \`method\` |  | such as \`GetInstances\` |
| \`code\` | \`calls_total\` | \`OK\`, \`UNKNOWN\` (no response), \`UNAVAILABLE\` |

## Services

| \`cloudwire_services\` | gauge |  | \`reason\` | Services. | ours |
`;

const CONDITIONS = "| `Ready` | True | it matches |\n| `Updating` | False | it is being updated |\n";

test.each([
  { expr: 'sum by (job, method) (rate(calls_total{job="a",code!="OK"}[5m])) > 0', wanted: [] },
  { expr: 'histogram_quantile(0.9, sum by (le, queue) (rate(wait_seconds_bucket{job="a"}[5m])))', wanted: [] },
  { expr: 'time() - process_start_time_seconds{job="a"}', wanted: [] },
  { expr: "vector(1)", wanted: ["asks for no metric"] },
  { expr: 'gone_total{job="a"}', wanted: ["there is no metric gone_total"] },
  { expr: "calls_total > 0", wanted: ["asks for no metric", "calls_total has no selector"] },
  { expr: 'calls_total{code="OK"}', wanted: ["calls_total is asked for without job"] },
  { expr: 'calls_total{job="a",queue="b"}', wanted: ["calls_total has no label queue"] },
  { expr: 'wait_seconds{job="a"}', wanted: ["there is no metric wait_seconds"] },
  { expr: 'wait_seconds_count{job="a",le="1"}', wanted: ["wait_seconds_count has no label le"] },
  { expr: 'calls_total{job="a",method="Other",code=~"UN.+|OK"}', wanted: [] },
  { expr: 'calls_total{job="a",code="LOST"}', wanted: ["label code of calls_total has no value LOST"] },
  { expr: 'calls_total{job="a",code!~"OK|LOST"}', wanted: ["label code of calls_total has no value LOST"] },
  { expr: 'cloudwire_services{job="a",reason=~"Ready|Unknown|Updating"}', wanted: [] },
  {
    expr: 'cloudwire_services{job="a",reason="Gone"}',
    wanted: ["label reason of cloudwire_services has no value Gone"],
  },
  { expr: 'sum by (pod) (calls_total{job="a"})', wanted: ["no metric in it has label pod"] },
])("problemsOf() finds what is wrong with the names in $expr", ({ expr, wanted }) => {
  expect(problemsOf(expr, metricReference(PAGE, CONDITIONS))).toEqual(wanted);
});
