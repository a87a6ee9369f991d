import { describe, expect, test } from "vitest";
import { node } from "../../test/support/builders.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { Node } from "../api/node.ts";
import type { EventHandler, HandlerOptions, Informer } from "../kube/cache/lister.ts";
import { NO_QUEUE_METRICS } from "../workqueue/metrics.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "../workqueue/rate-limited-queue.ts";
import { type InformerSourceOptions, type Predicate, informerSource } from "./source.ts";

/** Hands its one handler to the test. */
function stubInformer() {
  const handlers: EventHandler<Node>[] = [];
  const options: HandlerOptions[] = [];
  const informer: Informer<Node> = {
    lister: { get: () => undefined, list: () => [][Symbol.iterator](), size: 0, byIndex: () => [] },
    addHandler: (handler, given = {}) => {
      handlers.push(handler);
      options.push(given);
      return () => void handlers.splice(0);
    },
    hasSynced: () => true,
    whenSynced: () => Promise.resolve(),
    lastFailure: () => undefined,
    run: () => Promise.resolve(),
  };
  return { informer, handlers, options };
}

function startSource(options: Partial<InformerSourceOptions<Node>> = {}) {
  const stub = stubInformer();
  const every: Predicate<Node> = { add: () => true, update: () => true, delete: () => true };
  const source = informerSource({ name: "nodes", informer: stub.informer, predicate: every, ...options });
  const queue = createWorkqueue({
    clock: new FakeClock(),
    limiter: exponentialLimiter(DEFAULT_BACKOFF),
    metrics: NO_QUEUE_METRICS,
  });
  const end = source.start(queue);
  return { ...stub, queue, end };
}

const n1 = node("n1");
const changed = node("n1", { metadata: { resourceVersion: "2" } });

describe("informerSource()", () => {
  test.each([
    { what: "an object of the first list", notify: (h: EventHandler<Node>) => h.onAdd?.(n1, true), priority: "low" },
    { what: "a new object", notify: (h: EventHandler<Node>) => h.onAdd?.(n1, false), priority: "high" },
    { what: "a change", notify: (h: EventHandler<Node>) => h.onUpdate?.(n1, changed), priority: "high" },
    { what: "a resync", notify: (h: EventHandler<Node>) => h.onUpdate?.(n1, n1), priority: "low" },
    { what: "a deletion", notify: (h: EventHandler<Node>) => h.onDelete?.(n1), priority: "high" },
  ])("queues $what as $priority", ({ notify, priority }) => {
    const { queue, handlers } = startSource();
    handlers.forEach(notify);
    expect(queue.state("n1")).toEqual({ kind: "waiting", priority });
  });

  test("queues nothing that the predicate refuses", () => {
    const predicate: Predicate<Node> = {
      add: () => false,
      update: (old, object) => old === object,
      delete: () => false,
    };
    const { queue, handlers } = startSource({ predicate });
    for (const handler of handlers) {
      handler.onAdd?.(n1, false);
      handler.onUpdate?.(n1, changed);
      handler.onDelete?.(n1);
    }
    expect(queue.depth).toBe(0);
  });

  test("maps an object to other keys and its own priorities", () => {
    const { queue, handlers, options } = startSource({
      keys: ({ metadata }) => [`service-of-${metadata.name}`, "all"],
      priority: ({ kind }) => (kind === "add" ? "high" : "low"),
      resyncMs: 30_000,
    });
    handlers[0]?.onAdd?.(n1, true);
    expect([queue.state("service-of-n1"), queue.state("all"), queue.state("n1")]).toEqual([
      { kind: "waiting", priority: "high" },
      { kind: "waiting", priority: "high" },
      { kind: "unknown" },
    ]);
    expect(options).toEqual([{ resyncMs: 30_000 }]);
  });

  test("takes its handler off at the end", () => {
    const { handlers, end } = startSource();
    end();
    expect(handlers).toEqual([]);
  });
});
