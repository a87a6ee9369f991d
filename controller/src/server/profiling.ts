import type { FastifyInstance, FastifyReply } from "fastify";
import { Session } from "node:inspector/promises";
import { setTimeout as wait } from "node:timers/promises";
import { PassThrough } from "node:stream";
import { sendText } from "./endpoints.ts";

/** As Go's net/http/pprof. */
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

/** The log level, which can change at run time. */
export interface Verbosity {
  readonly get: () => number;
  readonly set: (level: number) => void;
}

/** CPU profile and heap snapshot in V8's formats, and the log level, at upstream's paths. */
export function serveProfiling(server: FastifyInstance, verbosity: Verbosity): void {
  let isBusy = false;
  const alone = async (reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> => {
    if (isBusy) return sendText(reply, 409, "another profile is in progress\n");
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  };
  server.get("/debug/pprof/profile", (request, reply) => {
    const seconds = secondsOf(request.query);
    if (seconds === undefined) return sendText(reply, 400, `seconds: want a number from 1 to ${MAX_SECONDS}\n`);
    return alone(reply, () => sendProfile(reply, seconds));
  });
  server.get("/debug/pprof/heap", (_request, reply) => alone(reply, () => sendHeap(reply)));
  server.addContentTypeParser("*", { parseAs: "string", bodyLimit: 64 }, (_request, body, done) => done(null, body));
  server.put("/debug/flags/v", (request, reply) => {
    const text = String(request.body).trim();
    if (!/^\d{1,2}$/.test(text)) return sendText(reply, 400, `"${text}" is not a level; send a number from 0 to 10\n`);
    verbosity.set(Number(text));
    return sendText(reply, 200, `the log level is now ${verbosity.get()}\n`);
  });
}

async function sendProfile(reply: FastifyReply, seconds: number): Promise<FastifyReply> {
  using session = connected();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  await wait(seconds * 1000);
  const { profile } = await session.post("Profiler.stop");
  return reply
    .type("application/json")
    .header("content-disposition", 'attachment; filename="controller.cpuprofile"')
    .send(JSON.stringify(profile));
}

async function sendHeap(reply: FastifyReply): Promise<FastifyReply> {
  using session = connected();
  const stream = new PassThrough();
  session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => stream.write(params.chunk));
  void reply
    .type("application/json")
    .header("content-disposition", 'attachment; filename="controller.heapsnapshot"')
    .send(stream);
  await session.post("HeapProfiler.takeHeapSnapshot");
  stream.end();
  return reply;
}

function connected(): Session & Disposable {
  const session = new Session();
  session.connect();
  return Object.assign(session, { [Symbol.dispose]: () => session.disconnect() });
}

function secondsOf(query: unknown): number | undefined {
  if (typeof query !== "object" || query === null || !("seconds" in query)) return DEFAULT_SECONDS;
  const seconds = Number(query.seconds);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}
