import { beforeEach, describe, expect, test } from "vitest";
import { Metrics } from "../../telemetry/metrics.ts";
import { kubeletServingMetrics } from "./metrics.ts";
import { WaitingRequests } from "./waiting-requests.ts";

const SERIES = "cloudwire_kubelet_serving_csrs_not_approved";

let metrics: Metrics;
let waiting: WaitingRequests;
beforeEach(() => {
  metrics = new Metrics();
  waiting = new WaitingRequests(kubeletServingMetrics(metrics).notApproved);
});

describe("WaitingRequests", () => {
  test("counts each request once, by its last reason", async () => {
    waiting.put("a", "instanceUnknown", "node-a");
    waiting.put("b", "instanceUnknown", "node-b");
    waiting.put("a", "addressUnknown", "node-a");
    expect(await metrics.value(SERIES, { reason: "instanceUnknown" })).toBe(1);
    expect(await metrics.value(SERIES, { reason: "addressUnknown" })).toBe(1);
    waiting.forget("a");
    waiting.forget("a");
    waiting.forget("never seen");
    expect(await metrics.value(SERIES, { reason: "addressUnknown" })).toBe(0);
  });

  test("finds the requests that a Node or a provider may cure, and no others", () => {
    waiting.put("a", "nodeNotFound", "node-a");
    waiting.put("a2", "nodeNotFound", "node-a");
    waiting.put("b", "nodeNotFound", "node-b");
    waiting.put("c", "weakKey");
    expect([waiting.keysOf("node-a"), waiting.keysOf("node-c"), waiting.retriable()]).toEqual([
      ["a", "a2"],
      [],
      ["a", "a2", "b"],
    ]);
    waiting.forget("a");
    waiting.forget("b");
    expect([waiting.keysOf("node-a"), waiting.retriable()]).toEqual([["a2"], ["a2"]]);
  });

  test("remembers what was said of a request, as long as it waits", () => {
    waiting.put("a", "instanceUnknown", "node-a");
    waiting.reported("a", "x");
    waiting.put("a", "instanceUnknown", "node-a");
    expect([waiting.isNew("a", "x"), waiting.isNew("a", "y"), waiting.isNew("b", "x")]).toEqual([false, true, true]);
    waiting.forget("a");
    waiting.reported("a", "x");
    expect(waiting.isNew("a", "x")).toBe(true);
  });
});
