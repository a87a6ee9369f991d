import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Caller } from "../endpoint/caller.ts";
import { methods } from "../contract/methods.ts";
import { serveReference } from "../reference/provider.ts";
import { client } from "../endpoint/reach.ts";
import { Connection } from "../endpoint/connection.ts";
import { bareError, isCall, type Mutant } from "./mutant.ts";
import { startMutantProxy } from "./mutant-proxy.ts";
import { Trace } from "./trace.ts";

const trace = new Trace();
let reference: Awaited<ReturnType<typeof serveReference>>;

beforeAll(async () => {
  reference = await serveReference();
  const path = join(reference.directory, "traced.sock");
  const proxy = await startMutantProxy({ kind: "unix", path: reference.path }, path, { intercept: trace.intercept });
  const connection = new Connection({ kind: "unix", path });
  const asks = (check: string) => new Caller({ connection, check });
  await new Caller({ connection }).call(methods.getProviderInfo, { client });
  for (let turn = 0; turn < 5; turn++) await asks("a.hands").call(methods.getProviderInfo, { client });
  await asks("b.status").call(methods.getProviderStatus, {});
  await asks("b.status").call(methods.getProviderStatus, {}, { headers: { traceparent: "garbage" } });
  connection.close();
  await proxy.close();
});
afterAll(() => reference.close());

const isStatus = (request: Parameters<NonNullable<Mutant["intercept"]>>[0]): boolean =>
  isCall(request, methods.getProviderStatus.name);

let turn = 0;

describe("Trace.touchedBy()", () => {
  test.each<[string, Partial<Mutant>, readonly string[] | "all"]>([
    ["nothing", {}, []],
    ["nothing of what they get", { intercept: async (request, next) => next({ ...request }) }, []],
    ["an answer", { intercept: async (request, next) => (isStatus(request) ? "cut" : next(request)) }, ["b.status"]],
    [
      "a trailer",
      {
        intercept: async (request, next) => {
          const reply = await next(request);
          return isStatus(request) ? { ...reply, trailers: { ...reply.trailers, more: "1" } } : reply;
        },
      },
      ["b.status"],
    ],
    [
      "the time of an answer",
      {
        intercept: async (request, next) => {
          if (isStatus(request)) await wait(5);
          return next(request);
        },
      },
      ["b.status"],
    ],
    [
      "the request",
      { intercept: async (request, next) => next(isStatus(request) ? { ...request, body: Buffer.alloc(1) } : request) },
      ["b.status"],
    ],
    [
      "calls with a header",
      {
        intercept: async (request, next) =>
          request.headers["traceparent"] === "garbage" ? bareError(3, "no") : next(request),
      },
      ["b.status"],
    ],
    [
      "every other call",
      { intercept: async (request, next) => (isStatus(request) && turn++ % 2 === 1 ? "hang" : next(request)) },
      ["b.status"],
    ],
    [
      "calls late in a connection's life",
      { intercept: async (request, next) => (request.earlier === 5 ? "cut" : next(request)) },
      ["a.hands"],
    ],
    [
      "the handshake that a run begins with",
      { intercept: async (request, next) => (isStatus(request) ? next(request) : bareError(14, "no")) },
      "all",
    ],
    ["more than calls", { socketMode: 0o777 }, "all"],
  ])("finds the checks that can see a fault that changes %s", async (_name, fault, wanted) => {
    const touched = await trace.touchedBy({ name: "some", fault: "some", fails: [], ...fault });
    expect(touched === "all" ? touched : [...touched].toSorted()).toEqual(wanted);
  });
});
