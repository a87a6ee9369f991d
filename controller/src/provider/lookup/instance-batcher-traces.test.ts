import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryTraces } from "../../../test/support/memory-traces.ts";
import { nodeRef } from "../convert/node.ts";
import { contractError } from "../model/errors.ts";
import { InstanceBatcher } from "./instance-batcher.ts";

test("InstanceBatcher makes one span of a call for several, below the first of them and linked to the others", async () => {
  const [clock, traces] = [new FakeClock(), new MemoryTraces()];
  const { tracing } = traces;
  const { signal } = new AbortController();
  const batcher = new InstanceBatcher({
    clock,
    signal,
    maxBatchSize: () => 10,
    companions: () => ["c", "d"].map(ref),
    fetch: async (nodes) => {
      await tracing.child(
        () => ({ name: "call", kind: "client", attributes: { nodes: nodes.length } }),
        () => setImmediate(),
      );
      const error = contractError("CLOUD_UNAVAILABLE", "cloud is down");
      return nodes.map(() => ({ kind: "unknown", error }));
    },
    tracing,
  });
  const reconcile = (name: string): Promise<unknown> =>
    tracing.root(
      () => ({ name, kind: "internal", attributes: {} }),
      () => batcher.ask(ref(name), { signal, maxDataAgeMs: 30_000 }),
    );
  const reconciles = ["a", "b", "c"].map(reconcile);
  await clock.advance(20);
  await Promise.all(reconciles);
  expect(traces.spans.map(({ name, parent, links }) => ({ name, parent, links }))).toEqual([
    { name: "call", parent: "a", links: ["b", "c"] },
    { name: "a", parent: undefined, links: [] },
    { name: "b", parent: undefined, links: [] },
    { name: "c", parent: undefined, links: [] },
  ]);
  expect(traces.spans[0]?.attributes).toEqual({ nodes: 4 });
});

function ref(name: string): ReturnType<typeof nodeRef> {
  return nodeRef(node(name), { nodeLabelKeys: [], nodeAnnotationKeys: [] });
}
