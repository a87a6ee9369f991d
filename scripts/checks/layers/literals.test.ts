import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const NODE = "controller/src/controllers/node";
const BUILT = "builds an event: events are built in the events.ts of their capability";

describe("eventFindings()", () => {
  const event = 'export const e = (regarding: R) => ({ regarding, type: "Warning", reason: A, message: "b" });';

  test("allows events in events.ts, and in tests", () => {
    expect(messages({ [`${NODE}/events.ts`]: event, [`${NODE}/apply.test.ts`]: event })).toEqual([]);
  });

  test.each([
    ["whole", event],
    ["of a type that is computed", "f({ regarding: r, type: isDone ? a : b, reason: c, message });"],
    ["made of another", 'f({ ...event, type: "Normal" });'],
  ])("refuses an event elsewhere, %s", (_sentence, text) => {
    expect(messages({ [`${NODE}/apply.ts`]: text })).toEqual([`${NODE}/apply.ts:1 ${BUILT}`]);
  });

  test.each([
    ["a condition", 'f({ type: "Ready", status: "True", reason: a });'],
    ["what an event is about", "f({ regarding: r });"],
  ])("does not take %s for an event", (_sentence, text) => {
    expect(messages({ [`${NODE}/apply.ts`]: text })).toEqual([]);
  });
});

describe("metricFindings()", () => {
  const family = (name: string): string => `metrics.counter({ name: "${name}", help: "h" });`;

  test("allows families in metrics.ts, and two elsewhere", () => {
    expect(
      messages({
        [`${NODE}/metrics.ts`]: `${family("a_total")}\n${family("b_total")}\n${family("c_total")}`,
        "controller/src/server/health.ts": `${family("d_total")}\n${family("e_total")}`,
        [`${NODE}/metrics.test.ts`]: 'expect(await metrics.value("a_total")).toBe(1);',
      }),
    ).toEqual([]);
  });

  test("refuses three elsewhere", () => {
    const three = `\n${family("a_total")}\n${family("b_total")}\n${family("c_total")}`;
    expect(messages({ [`${NODE}/node-cache.ts`]: three })).toEqual([
      `${NODE}/node-cache.ts:2 declares 3 metrics: more than 2 are declared in a metrics.ts`,
    ]);
  });

  test("refuses a metric's name in a second file", () => {
    expect(
      messages({
        [`${NODE}/metrics.ts`]: family("a_total"),
        "controller/src/explain/overview/overview.ts": 'const A = "a_total";',
      }),
    ).toEqual([
      `controller/src/explain/overview/overview.ts:1 repeats the name of a metric, a_total, which ${NODE}/metrics.ts declares: take it from there`,
    ]);
  });
});
