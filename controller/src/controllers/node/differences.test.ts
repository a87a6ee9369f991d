import { expect, test } from "vitest";
import { Metrics } from "../../telemetry/metrics.ts";
import { Differences } from "./differences.ts";
import { nodeMetrics } from "./metrics.ts";

const ZONE = { field: "zone", message: "z" } as const;
const REGION = { field: "region", message: "r" } as const;

function setUp() {
  const metrics = new Metrics();
  const differences = new Differences(nodeMetrics(metrics).differences);
  const counted = (field: string) => metrics.value("cloudwire_node_differences", { field });
  return { differences, counted };
}

test("replace() answers what is new, once", () => {
  const { differences } = setUp();
  expect(differences.replace("a", [ZONE])).toEqual([ZONE]);
  expect(differences.replace("a", [ZONE, REGION])).toEqual([REGION]);
  expect(differences.replace("b", [ZONE])).toEqual([ZONE]);
  expect(differences.replace("a", [{ ...ZONE, message: "z2" }])).toEqual([{ ...ZONE, message: "z2" }]);
});

test("replace() answers again what has come back", () => {
  const { differences } = setUp();
  differences.replace("a", [ZONE]);
  expect(differences.replace("a", [])).toEqual([]);
  expect(differences.replace("a", [ZONE])).toEqual([ZONE]);
});

test("the metric counts nodes by field, each once a field", async () => {
  const { differences, counted } = setUp();
  expect(await counted("labels")).toBeUndefined();
  differences.replace("a", [
    { field: "labels", message: "1" },
    { field: "labels", message: "2" },
    { field: "zone", message: "3" },
  ]);
  differences.replace("b", [ZONE]);
  expect([await counted("labels"), await counted("zone")]).toEqual([1, 2]);
  differences.replace("a", [{ field: "labels", message: "2" }]);
  expect([await counted("labels"), await counted("zone")]).toEqual([1, 1]);
  differences.forget("a");
  differences.forget("b");
  differences.forget("b");
  expect([await counted("labels"), await counted("zone")]).toEqual([0, 0]);
});
