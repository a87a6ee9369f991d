import { AsyncLocalStorage } from "node:async_hooks";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import {
  type Context,
  type ContextManager,
  context as contexts,
  ROOT_CONTEXT,
  SpanKind,
  trace,
} from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { afterEach, expect, test } from "vitest";
import { absent } from "../results/results.ts";
import type { CallContext } from "../definition/call-context.ts";
import { ProviderError } from "../results/errors.ts";
import { invoke } from "../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../test/support/serve-for-test.ts";

const methods = CloudProviderDefinition.methods;
const request = { context, nodes: [{ name: "n1" }] };
const traceId = "0af7651916cd43dd8448eb211c80319c";
const callerSpanId = "b7ad6b7169203331";
const sampled = { traceparent: `00-${traceId}-${callerSpanId}-01` };

/** Context that follows the asynchronous flow, as a vendor's SDK for Node has it. */
class FlowingContext implements ContextManager {
  readonly #flow = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#flow.getStore() ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Fn extends (...args: Args) => ReturnType<Fn>>(
    active: Context,
    fn: Fn,
    thisArg?: ThisParameterType<Fn>,
    ...args: Args
  ): ReturnType<Fn> {
    return this.#flow.run(active, () => fn.call(thisArg, ...args));
  }

  bind<T>(_context: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#flow.disable();
    return this;
  }
}

/** What a vendor does who wants traces. */
const registerSdk = (processor: SpanProcessor): void => {
  contexts.setGlobalContextManager(new FlowingContext());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
};

const finishedSpans = (): InMemorySpanExporter => {
  const exporter = new InMemorySpanExporter();
  registerSdk(new SimpleSpanProcessor({ exporter }));
  return exporter;
};

afterEach(() => {
  trace.disable();
  contexts.disable();
});

const serveLookUps = (lookUp: (call: CallContext) => void) =>
  serveForTest({
    ...basics,
    instances: {
      get: (_node, call) => {
        lookUp(call);
        return absent("LOOKUP_MISS");
      },
    },
  });

test("a call is a span below the caller's, and the handler works within it", async () => {
  const exporter = finishedSpans();
  const { client } = await serveLookUps(() => trace.getTracer("vendor").startSpan("vendor's own").end());
  await invoke(client, methods.batchGetInstances, request, { metadata: sampled });
  const [own, served] = exporter.getFinishedSpans();
  expect(served).toMatchObject({
    name: "cloudprovider.v1.CloudProvider/BatchGetInstances",
    kind: SpanKind.SERVER,
    parentSpanContext: { traceId, spanId: callerSpanId, isRemote: true },
    status: { code: 0 },
    attributes: { "rpc.system.name": "grpc", "rpc.response.status_code": "OK" },
  });
  expect(own).toMatchObject({
    name: "vendor's own",
    parentSpanContext: { traceId, spanId: served?.spanContext().spanId },
  });
});

test.each([
  ["an error of the provider's", "CLOUD_UNAVAILABLE", "UNAVAILABLE", 2],
  ["an error that the caller made", "CLOUD_PERMISSION_DENIED", "PERMISSION_DENIED", 0],
] as const)("a call that ends with %s has the status that goes with it", async (_what, reason, code, status) => {
  const exporter = finishedSpans();
  const { client } = await serveForTest({
    ...basics,
    instances: {
      getMany: () => {
        throw new ProviderError(reason, "no");
      },
    },
  });
  await invoke(client, methods.batchGetInstances, request, { metadata: sampled });
  const spans = exporter.getFinishedSpans();
  expect(spans).toHaveLength(1);
  expect(spans[0]).toMatchObject({ status: { code: status }, attributes: { "rpc.response.status_code": code } });
});

test.each([
  ["malformed", { traceparent: "not a trace context" }, 1],
  ["left out", {}, 1],
  ["of a trace that is not exported", { traceparent: `00-${traceId}-${callerSpanId}-00` }, 0],
])("a call whose trace context is %s is served", async (_what, metadata, spans) => {
  const exporter = finishedSpans();
  const { client } = await serveLookUps(() => undefined);
  const outcome = await invoke(client, methods.batchGetInstances, request, { metadata });
  expect(outcome.kind).toBe("ok");
  expect(exporter.getFinishedSpans().filter(({ parentSpanContext }) => parentSpanContext === undefined)).toHaveLength(
    spans,
  );
});

test("the log of a call and its context carry the trace that the call belongs to", async () => {
  const contextsOfCalls: (string | undefined)[] = [];
  const { client, logged } = await serveLookUps(({ log, traceparent }) => {
    contextsOfCalls.push(traceparent);
    log.info("looked");
  });
  await invoke(client, methods.batchGetInstances, request, { metadata: sampled });
  expect(contextsOfCalls).toEqual([sampled.traceparent]);
  const lines = logged.filter((line) => line.includes('"looked"'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ method: "BatchGetInstances", traceID: traceId }]);
});

test.each(["onStart", "onEnd"] as const)(
  "a call is served once, whatever the vendor's SDK does in %s",
  async (broken) => {
    const fail = (): never => {
      throw new Error("the SDK is broken");
    };
    const done = async (): Promise<void> => undefined;
    const healthy = { onStart: () => undefined, onEnd: () => undefined, forceFlush: done, shutdown: done };
    registerSdk({ ...healthy, [broken]: fail });
    let lookUps = 0;
    const { client, logged } = await serveLookUps(() => {
      lookUps += 1;
    });
    const outcome = await invoke(client, methods.batchGetInstances, request, { metadata: sampled });
    expect(outcome.kind).toBe("ok");
    expect(lookUps).toBe(1);
    expect(logged.filter((line) => line.includes("A trace failed"))).toHaveLength(1);
  },
);
