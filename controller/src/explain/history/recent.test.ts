import { expect, test } from "vitest";
import type { ObjectCall } from "./call-journal.ts";
import type { StoredEntry } from "./timeline.ts";
import { lastHeard, shownCall, shownTimeline } from "./recent.ts";

const AT = (atMs: number): string => new Date(atMs).toISOString();

function call(parts: Partial<ObjectCall>): ObjectCall {
  const rest = { startMs: 1, provider: "east", durationMs: 12.4, code: "OK", reason: "", message: "", objectCount: 3 };
  return { ...rest, method: "BatchGetInstances", cloudRequestIds: [], ...parts };
}

function entry(reason: string, atMs: number, count = 1): StoredEntry {
  return { kind: "event", source: "node-controller", reason, message: "so it is", isWarning: false, atMs, count };
}

test("shownCall() leaves out what there is not", () => {
  expect(shownCall(call({}))).toEqual({
    time: AT(1),
    provider: "east",
    method: "BatchGetInstances",
    durationMs: 12,
    code: "OK",
    cloudRequestIds: [],
    objectCount: 3,
  });
  const failed = { code: "UNAVAILABLE", reason: "CLOUD_TIMEOUT", message: "late", cloudRequestIds: ["req-1"] };
  expect(shownCall(call(failed))).toMatchObject(failed);
});

test("shownTimeline() has calls that changed something or failed among all else, newest first", () => {
  const calls = [
    call({ startMs: 30, code: "UNAVAILABLE", reason: "CLOUD_TIMEOUT", message: "late" }),
    call({ startMs: 20, method: "EnsureLoadBalancer" }),
    call({ startMs: 10 }),
  ];
  const shown = shownTimeline([entry("Twice", 25, 2), entry("Once", 5)], calls, 1);
  expect(shown.map(({ time, reason, isWarning, count }) => [time, reason, isWarning, count])).toEqual([
    [AT(30), "CLOUD_TIMEOUT", true, undefined],
    [AT(25), "Twice", false, 2],
    [AT(20), "OK", false, undefined],
    [AT(5), "Once", false, undefined],
    [AT(1), "Created", false, undefined],
  ]);
  expect(shown[0]?.message).toBe("BatchGetInstances failed after 12 ms: late");
});

test("shownTimeline() shows a creation once, and the newest entries", () => {
  const created = { ...entry("Created", 3), kind: "object" } as const;
  expect(shownTimeline([created], [], 2).map(({ time }) => time)).toEqual([AT(3)]);
  const many = Array.from({ length: 60 }, (_, index) => call({ startMs: 60 - index, method: "EnsureLoadBalancer" }));
  expect(shownTimeline([], many, undefined)).toHaveLength(40);
});

test("lastHeard() returns the last entry of a deleted object", () => {
  expect(lastHeard("node/w1", [entry("Deleted", 2)])).toBe(
    "node/w1 no longer exists in the cluster; its last entry: so it is",
  );
  expect(lastHeard("node/w1", [])).toBeUndefined();
});
