import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { MemoryTraces } from "../../test/support/memory-traces.ts";
import type { Span, SpanStart } from "./tracing.ts";

const start = (name: string) => (): SpanStart => ({
  name,
  kind: "internal",
  attributes: { known: name, unknown: undefined },
});

test("OtelTracing puts what is done within a span below it, however long that takes", async () => {
  const traces = new MemoryTraces();
  const { tracing } = traces;
  await tracing.root(start("work"), async () => {
    await setImmediate();
    await Promise.all([tracing.child(start("one"), () => setImmediate()), tracing.child(start("other"), setImmediate)]);
  });
  const facts = { links: [], isError: false };
  expect(traces.spans).toEqual([
    { ...facts, name: "one", parent: "work", attributes: { known: "one" } },
    { ...facts, name: "other", parent: "work", attributes: { known: "other" } },
    { ...facts, name: "work", parent: undefined, attributes: { known: "work" } },
  ]);
  expect(tracing.current).toBeUndefined();
});

test("OtelTracing marks a span whose work throws as failed, and throws on", async () => {
  const traces = new MemoryTraces();
  const broken = Object.assign(new Error("x".repeat(1000)), { code: "BROKEN" });
  const work = traces.tracing.root(start("work"), () => Promise.reject(broken));
  await expect(work).rejects.toBe(broken);
  expect(traces.spans).toEqual([
    {
      name: "work",
      parent: undefined,
      links: [],
      isError: true,
      attributes: { known: "work", "error.type": "BROKEN" },
    },
  ]);
});

test("Span.fail() lets the first word stand", async () => {
  const traces = new MemoryTraces();
  const work = traces.tracing.root(start("work"), async (span) => {
    span.fail(new Error("known"), "KNOWN");
    throw new TypeError("what came of it");
  });
  await expect(work).rejects.toThrow("what came of it");
  expect(traces.spans.map(({ attributes }) => attributes["error.type"])).toEqual(["KNOWN"]);
});

test("OtelTracing.shared() puts work for several below the first of them and links it to the others, each once", async () => {
  const traces = new MemoryTraces();
  const { tracing } = traces;
  await tracing.root(start("first"), (first) =>
    tracing.root(start("second"), (second) =>
      tracing.root(start("bystander"), () =>
        tracing.shared([first, second, first, second], () => tracing.child(start("call"), setImmediate)),
      ),
    ),
  );
  expect(traces.spans[0]).toMatchObject({ name: "call", parent: "first", links: ["second"] });
});

test("OtelTracing.shared() prefers a span that is exported as the parent", async () => {
  const [unsampled, traces] = [new MemoryTraces(0), new MemoryTraces()];
  const { tracing } = traces;
  await unsampled.tracing.root(start("unseen"), (unseen) =>
    tracing.root(start("seen"), (seen) =>
      tracing.shared([unseen, seen], () => tracing.child(start("call"), setImmediate)),
    ),
  );
  expect(traces.spans[0]).toMatchObject({ name: "call", parent: "seen", links: ["not exported"] });
});

test("OtelTracing.shared() creates no span without callers", async () => {
  const { tracing } = new MemoryTraces();
  const current = await tracing.root(start("bystander"), () => tracing.shared([], async () => tracing.current));
  expect(current).toBeUndefined();
});

test("OtelTracing.child() makes no span outside of one", async () => {
  const traces = new MemoryTraces();
  expect(await traces.tracing.child(start("call"), async ({ traceparent }) => traceparent)).toBeUndefined();
  expect(traces.spans).toEqual([]);
});

test.each([
  [1, "01", 1],
  [0, "00", 0],
])("OtelTracing hands its ids on when %d of all traces are exported", async (ratio, flags, exported) => {
  const traces = new MemoryTraces(ratio);
  const { tracing } = traces;
  const [outer, inner] = await tracing.root(
    start("outer"),
    async (span): Promise<readonly Span[]> => [span, await tracing.child(start("inner"), async (below) => below)],
  );
  expect(outer?.traceparent).toMatch(new RegExp(`^00-[0-9a-f]{32}-[0-9a-f]{16}-${flags}$`));
  expect(inner?.traceparent?.slice(0, 35)).toBe(outer?.traceparent?.slice(0, 35));
  expect(inner?.traceparent).not.toBe(outer?.traceparent);
  expect(traces.spans).toHaveLength(2 * exported);
});
