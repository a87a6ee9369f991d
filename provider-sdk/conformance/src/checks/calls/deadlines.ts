import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { client } from "../../endpoint/reach.ts";
import { headerText } from "../../endpoint/status.ts";
import { provocableMethods, provokeAll } from "./provoked.ts";

const base = { level: "S", profile: "core" } as const;
const dayMs = 86_400_000;

const shake = ({ caller }: CheckContext, options: Parameters<CheckContext["caller"]["call"]>[2] = {}) =>
  caller.call(methods.getProviderInfo, { client }, options);

/** A call was served: with an answer that says who answers. */
const expectServed = (called: Awaited<ReturnType<typeof shake>>, what: string, { info }: CheckContext): void => {
  const { response, exchange } = expectOk(called, what);
  if (response.name !== info.name)
    fail({ message: `${what}: the answer is another`, expected: info.name, got: show(response.name), exchange });
};

const echoes = (called: Called<unknown>, requestId: string): void => {
  const got = headerText(called.wire.trailers, "x-request-id");
  if (got !== requestId)
    fail({
      message: "x-request-id does not come back",
      expected: requestId,
      got: show(got),
      exchange: called.exchange,
    });
};

/** Deadlines, what calls carry beside the request, and what must never be seen. */
export const timeChecks: readonly Check[] = [
  {
    ...base,
    id: "time.deadline.none",
    title: "a call without deadline is served",
    rules: ["TIM-1"],
    why: "People call with grpcurl, which sets none.",
    run: async (context) => {
      expectServed(
        await shake(context, { deadlineMs: "none", patienceMs: 10_000 }),
        "a call without deadline",
        context,
      );
    },
  },
  {
    ...base,
    id: "time.deadline.huge",
    title: "deadlines of months and years are served",
    rules: ["TIM-1"],
    why: "Arithmetic with 32 bits makes 25 days a moment in the past.",
    run: async (context) => {
      for (const days of [30, 90, 1_095]) {
        const called = await shake(context, { deadlineMs: days * dayMs, patienceMs: 10_000 });
        expectServed(called, `a deadline of ${days} days`, context);
      }
    },
  },
  {
    ...base,
    id: "time.deadline.tiny",
    title: "calls whose deadline passes at once end, and the next ones are served",
    rules: ["TIM-1", "TIM-2", "TRN-8"],
    why: "A worker that waits for a caller that has gone is lost for all others.",
    exclusive: true,
    run: async (context) => {
      const connection = context.connect();
      for (const name of provocableMethods(context)) {
        for (const deadlineMs of [1, 5]) {
          const request = sampleRequest(name, context);
          const called = await context.caller.call(methodsByName[name], request, {
            connection,
            deadlineMs,
            patienceMs: 5_000,
          });
          if (called.kind === "error" && called.error.code === 4) continue;
          if (called.kind === "broken" && called.wire.elapsedMs >= 5_000)
            fail({ message: `${name} with a deadline of ${deadlineMs} ms does not end`, exchange: called.exchange });
        }
      }
      expectServed(await shake(context, { connection }), "after calls that were late", context);
    },
  },
  {
    ...base,
    id: "time.cancel.next",
    title: "after a hundred cancelled calls the next is served on the same connection",
    rules: ["TIM-2", "TRN-8"],
    why: "A controller that stops cancels all it has under way.",
    exclusive: true,
    run: async (context) => {
      const connection = context.connect();
      expectOk(await shake(context, { connection }), "a call before those that are cancelled");
      const [name = "GetProviderStatus"] = provocableMethods(context).toReversed();
      const calls = Array.from({ length: 100 }, (_, index) =>
        context.caller.call(methodsByName[name], sampleRequest(name, context), {
          connection,
          signal: AbortSignal.timeout(index % 10),
        }),
      );
      await Promise.all(calls);
      expectServed(await shake(context, { connection }), "after calls that were cancelled", context);
    },
  },
  {
    ...base,
    id: "obs.request-id",
    title: "x-request-id comes back in the trailers, of success and of failure",
    rules: ["OBS-1"],
    why: "It is the one thing that both logs have in common.",
    run: async (context) => {
      const ok = await shake(context, { headers: { "x-request-id": "conformance-1" } });
      expectOk(ok, "a call with x-request-id");
      echoes(ok, "conformance-1");
      const name = provocableMethods(context).find(
        (method) => method !== "GetProviderInfo" && method !== "GetProviderStatus",
      );
      if (name === undefined) return;
      const headers = { "x-request-id": "conformance-2" };
      const refused = await context.caller.call(methodsByName[name], {}, { headers });
      expectError(refused, { codes: [3] }, `${name} without context`);
      echoes(refused, "conformance-2");
    },
  },
  {
    ...base,
    id: "obs.trace.accept",
    title: "traceparent is accepted, malformed ones included",
    rules: ["OBS-1"],
    why: "A header of a service mesh must not fail calls.",
    run: async (context) => {
      const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      for (const traceparent of [valid, "garbage", "ff-0-0-0", ""])
        expectOk(await shake(context, { headers: { traceparent } }), `traceparent "${traceparent}"`);
    },
  },
  {
    ...base,
    profile: "resilience",
    id: "sec.secret.errors",
    title: "the planted secret is in no answer, error or trailer",
    rules: ["SEC-1"],
    why: "Events and logs are read by people who must not have the credentials.",
    fixtures: ["canarySecret"],
    timeoutMs: 60_000,
    run: async (context) => {
      const secret = context.fixtures.canarySecret ?? "";
      const calls = [
        await shake(context),
        await context.caller.call(methods.getProviderStatus, { context: context.callContext }),
        ...(await provokeAll(context)).map(({ called }) => called),
      ];
      if (calls.every(({ kind }) => kind === "ok")) fail({ message: "nothing is refused: no error can be looked at" });
      const found = calls.filter(
        ({ wire }) => JSON.stringify([wire.trailers, wire.headers]).includes(secret) || wire.body.includes(secret),
      );
      const encoded = calls.filter(({ kind, wire }) => kind === "error" && detailsOf(wire.trailers).includes(secret));
      expectNone(
        [...found, ...encoded].map(({ exchange }) => exchange.path),
        "the secret is shown by",
      );
    },
  },
];

const detailsOf = (trailers: Called<unknown>["wire"]["trailers"]): Buffer =>
  Buffer.from(headerText(trailers, "grpc-status-details-bin") ?? "", "base64");
