import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { eventually } from "../../../test/support/poll.ts";
import {
  type Answer,
  beginWatch,
  bookmarkJson,
  listJson,
  nodeJson,
  ScriptedServer,
  sendJson,
  sendStatus,
  writeEvent,
} from "../../../test/support/kube/scripted-server.ts";
import type { Node } from "../../api/node.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { createInformer } from "./informer.ts";
import { HttpKubeClient } from "../http-client.ts";
import type { Informer } from "./lister.ts";
import { informerMetrics } from "./metrics.ts";
import { NODES } from "../resources/node.ts";
import { Transport } from "../connection/transport.ts";

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Time runs so many times as fast: waits of seconds and minutes pass in a fraction, sockets stay real. */
function fastClock(speed: number): Clock {
  const real = systemClock();
  return {
    nowMs: () => real.nowMs(),
    monotonicMs: () => real.monotonicMs() * speed,
    schedule: (delayMs, run) => real.schedule(delayMs / speed, run),
  };
}

interface Rig {
  readonly server: ScriptedServer;
  readonly informer: Informer<Node>;
  /** What handlers were reported: `+n1` (`*n1` in the first list), `~n1@2`, `-n1`. */
  readonly reported: string[];
  readonly log: FakeLog;
  readonly metrics: Metrics;
}

async function start(answer: Answer, listBy: "stream" | "pages" = "stream", speed = 20): Promise<Rig> {
  const server = await ScriptedServer.start(answer);
  const clock = fastClock(speed);
  const transport = new Transport({ access: server.access(), clock, metrics: undefined, limiter: undefined });
  const client = new HttpKubeClient({ transport, clock, metrics: undefined, userAgent: "test", tracing: NO_TRACING });
  const log = new FakeLog();
  const metrics = new Metrics();
  const informer = createInformer({
    resource: NODES,
    client,
    clock,
    random: () => 0,
    log,
    metrics: informerMetrics(metrics)("Node"),
    listBy,
    indexes: { uid: ({ metadata }) => [metadata.uid] },
  });
  const reported: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }, initial) => reported.push(`${initial ? "*" : "+"}${metadata.name}`),
    onUpdate: (_, { metadata }) => reported.push(`~${metadata.name}@${metadata.resourceVersion}`),
    onDelete: ({ metadata }) => reported.push(`-${metadata.name}`),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  cleanUps.push(
    () => server[Symbol.asyncDispose](),
    () => transport.close(),
    async () => {
      stop.abort();
      await running;
    },
  );
  return { server, informer, reported, log, metrics };
}

/** A list of pages and one answer a watch, in turn; the last one repeats. */
function script(
  pages: readonly (readonly unknown[])[],
  watches: readonly ((response: ServerResponse) => void)[],
  version = 10,
): Answer {
  let watch = 0;
  return ({ query }, response) => {
    if (query.get("sendInitialEvents") === "true") return sendStatus(response, 422, "Invalid");
    if (query.get("watch") === "true") return watches[Math.min(watch++, watches.length - 1)]?.(response);
    const page = Number(query.get("continue") ?? 0);
    const next = page + 1 < pages.length ? String(page + 1) : "";
    return sendJson(response, listJson(pages[page] ?? [], version, next));
  };
}

const quiet = (response: ServerResponse): void => beginWatch(response);
const names = ({ lister }: Informer<Node>): readonly string[] =>
  [...lister.list()].map(({ metadata }) => metadata.name);
const versions = (rig: Rig): readonly (string | null)[] =>
  rig.server.watches.flatMap(({ query }) => query.get("resourceVersion") ?? []);

describe("Informer listing", () => {
  test("streams the list, syncs at its end and goes on watching in the same request", async () => {
    const rig = await start((_, response) => {
      beginWatch(response);
      writeEvent(response, "ADDED", nodeJson("a", 1));
      writeEvent(response, "ADDED", nodeJson("b", 2));
      writeEvent(response, "BOOKMARK", bookmarkJson(10, true));
      writeEvent(response, "ADDED", nodeJson("c", 11));
      writeEvent(response, "MODIFIED", nodeJson("a", 12));
      writeEvent(response, "DELETED", nodeJson("b", 13));
    });
    await eventually("reported all", () => rig.reported.length === 5);
    expect(rig.reported).toEqual(["*a", "*b", "+c", "~a@12", "-b"]);
    expect(names(rig.informer)).toEqual(["a", "c"]);
    expect(rig.informer.hasSynced()).toBe(true);
    expect(rig.informer.lastFailure()).toBeUndefined();
    expect(rig.server.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
      {
        watch: "true",
        allowWatchBookmarks: "true",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        timeoutSeconds: "300",
      },
    ]);
    expect(await rig.metrics.value("cloudwire_informer_objects", { kind: "Node" })).toBe(2);
  });

  test("lists in pages where the server refuses to stream", async () => {
    const rig = await start(script([[nodeJson("a", 1), nodeJson("b", 2)], [nodeJson("c", 3)]], [quiet]));
    await rig.informer.whenSynced(AbortSignal.timeout(5000));
    expect(names(rig.informer)).toEqual(["a", "b", "c"]);
    await eventually("watching", () => rig.server.watches.length === 2);
    expect(versions(rig)).toEqual(["10"]);
    expect(rig.log.messages("warn")).toEqual([]);
  });

  test("lists in pages where the server takes the request to stream and never ends the list", async () => {
    const rig = await start(({ query }, response) => {
      if (query.get("watch") === null) return sendJson(response, listJson([nodeJson("a", 1)], 10));
      beginWatch(response);
      if (query.get("sendInitialEvents") === "true") writeEvent(response, "ADDED", nodeJson("a", 1));
    });
    await rig.informer.whenSynced(AbortSignal.timeout(10_000));
    expect(names(rig.informer)).toEqual(["a"]);
    expect(rig.server.lists).toHaveLength(1);
  });

  test("reads a protobuf stream as the API server writes it", async () => {
    const stream = readFileSync(new URL("../../../test/fixtures/kube/watch.pb", import.meta.url));
    let turn = 0;
    const rig = await start((_, response) => {
      response.writeHead(200, { "content-type": "application/vnd.kubernetes.protobuf;stream=watch" });
      response.flushHeaders();
      if (++turn > 1) return;
      for (let at = 0; at < stream.length; at += 7) response.write(stream.subarray(at, at + 7));
    });
    // Added, modified with the same version, bookmark that ends the list, deleted, 410; then the list restarts.
    await eventually("listing again", () => rig.server.watches.length === 2);
    expect(rig.reported).toEqual(["*ip-10-0-0-1.example", "-ip-10-0-0-1.example"]);
    expect(rig.server.watches[1]?.query.get("sendInitialEvents")).toBe("true");
  });

  test.each([
    { what: "500", fault: (response: ServerResponse) => sendStatus(response, 500, "InternalError") },
    { what: "403", fault: (response: ServerResponse) => sendStatus(response, 403, "Forbidden") },
    {
      what: "429 with Retry-After",
      fault: (response: ServerResponse) => sendStatus(response, 429, "TooManyRequests", { "retry-after": "1" }),
    },
    { what: "a broken connection", fault: (response: ServerResponse) => void response.socket?.destroy() },
    {
      what: "410 in the middle of its pages",
      fault: (response: ServerResponse) => sendStatus(response, 410, "Expired"),
    },
    { what: "something that is no list", fault: (response: ServerResponse) => sendJson(response, { kind: "Status" }) },
  ])("tries again after $what until it succeeds", async ({ fault }) => {
    const good = script([[nodeJson("a", 1)], [nodeJson("b", 2)]], [quiet]);
    let faults = 0;
    const rig = await start((request, response) => {
      const wanted = request.query.get("continue") === "1" || request.query.get("watch") === null;
      if (wanted && ++faults <= 3 && faults !== 2) fault(response);
      else good(request, response);
    }, "pages");
    await rig.informer.whenSynced(AbortSignal.timeout(10_000));
    expect(names(rig.informer)).toEqual(["a", "b"]);
    expect(rig.reported).toEqual(["*a", "*b"]);
  });

  test("says why it is not fresh while it fails", async () => {
    const rig = await start((_, response) => sendStatus(response, 403, "Forbidden"));
    await eventually("failed", () => rig.log.messages("warn").length > 0);
    expect(rig.informer.lastFailure()).toContain("cannot list nodes: WATCH /api/v1/nodes");
    expect(rig.informer.lastFailure()).toContain("403: Forbidden by script; grant the permission in the ClusterRole");
    expect(rig.informer.hasSynced()).toBe(false);
  });
});

describe("Informer watching", () => {
  const list = [[nodeJson("a", 1)]];

  test.each([
    { what: "a 500", fault: (response: ServerResponse) => sendStatus(response, 500, "InternalError") },
    { what: "a 503", fault: (response: ServerResponse) => sendStatus(response, 503, "ServiceUnavailable") },
    {
      what: "a 429 with Retry-After",
      fault: (response: ServerResponse) => sendStatus(response, 429, "TooManyRequests", { "retry-after": "1" }),
    },
    { what: "a reset", fault: (response: ServerResponse) => void response.socket?.resetAndDestroy() },
    { what: "an error event 500", fault: (response: ServerResponse) => errorEvent(response, 500, "InternalError") },
    {
      what: "garbage in the stream",
      fault: (response: ServerResponse) => {
        beginWatch(response);
        response.write("{not json}\n");
      },
    },
  ])("resumes from the last version after $what, without a new list", async ({ fault }) => {
    const seeTwo = (response: ServerResponse): void => {
      beginWatch(response);
      writeEvent(response, "ADDED", nodeJson("b", 11));
      writeEvent(response, "BOOKMARK", bookmarkJson(20));
      setTimeout(() => response.end(), 60);
    };
    const seeThree = (response: ServerResponse): void => {
      beginWatch(response);
      writeEvent(response, "ADDED", nodeJson("c", 21));
    };
    const rig = await start(script(list, [seeTwo, fault, seeThree]), "pages");
    await eventually("c", () => rig.reported.includes("+c"));
    expect(rig.reported).toEqual(["*a", "+b", "+c"]);
    expect(versions(rig)).toEqual(["10", "20", "20"]);
    expect(rig.server.lists).toHaveLength(1);
    expect(rig.informer.lastFailure()).toBeUndefined();
  });

  test("goes on at once when the server ends a watch in good order", async () => {
    const closing = (response: ServerResponse): void => {
      beginWatch(response);
      writeEvent(response, "BOOKMARK", bookmarkJson(15));
      setTimeout(() => response.end(), 60);
    };
    const rig = await start(script(list, [closing, quiet]), "pages");
    await eventually("second watch", () => rig.server.watches.length === 2);
    expect(versions(rig)).toEqual(["10", "15"]);
    expect(rig.log.messages("warn")).toEqual([]);
  });

  test("backs off when the server closes at once, time after time", async () => {
    const rig = await start(script(list, [(response) => void (beginWatch(response), response.end())]), "pages");
    await eventually("three tries", () => rig.server.watches.length >= 3);
    const delays = rig.log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["delayMs"]);
    expect(delays.slice(0, 2)).toEqual([500, 1000]);
  });

  test("gives up a connection on which nothing comes any more, bookmarks included, and resumes", async () => {
    const rig = await start(script(list, [quiet]), "pages", 200);
    await eventually("watching", () => rig.server.watches.length === 1);
    const sinceMs = performance.now();
    await eventually("watched again", () => rig.server.watches.length >= 2);
    // Three minutes of silence: bookmarks come once a minute, so a healthy quiet watch is left alone.
    expect((performance.now() - sinceMs) * 200).toBeGreaterThan(170_000);
    expect(versions(rig).slice(0, 2)).toEqual(["10", "10"]);
    expect(rig.server.lists).toHaveLength(1);
  });

  test.each([
    { what: "an answer 410", gone: (response: ServerResponse) => sendStatus(response, 410, "Expired") },
    {
      what: "an error event 410 on a stream left open",
      gone: (response: ServerResponse) => errorEvent(response, 410, "Expired"),
    },
    {
      what: "an error event that only has the reason",
      gone: (response: ServerResponse) => errorEvent(response, 0, "Expired"),
    },
  ])("lists again after  and reports only the difference", async ({ gone }) => {
    let relisted = false;
    const before = script([[nodeJson("a", 1), nodeJson("b", 2), nodeJson("c", 3), nodeJson("d", 4)]], [gone]);
    const after = script(
      [[nodeJson("a", 1), nodeJson("b", 22), nodeJson("d", 24, "uid-new"), nodeJson("e", 25)]],
      [quiet],
      30,
    );
    const rig = await start((request, response) => {
      if (request.query.get("watch") === null && rig.server.lists.length === 2) relisted = true;
      (relisted ? after : before)(request, response);
    }, "pages");
    await eventually("relisted", () => rig.reported.includes("-c"));
    expect(rig.reported).toEqual(["*a", "*b", "*c", "*d", "~b@22", "-d", "+d", "+e", "-c"]);
    expect(names(rig.informer).toSorted()).toEqual(["a", "b", "d", "e"]);
    expect(rig.informer.lister.byIndex("uid", "uid-new").map(({ metadata }) => metadata.name)).toEqual(["d"]);
    expect(rig.informer.lister.byIndex("uid", "uid-c")).toEqual([]);
    await eventually("watching from the new list", () => versions(rig).at(-1) === "30");
    expect(versions(rig)).toEqual(["10", "30"]);
  });

  test("lists again when the server keeps refusing a version", async () => {
    const rig = await start(script(list, [(response) => sendStatus(response, 504, "Timeout")]), "pages");
    await eventually("second list", () => rig.server.lists.length >= 2);
    expect(rig.server.watches.length).toBeGreaterThanOrEqual(5);
  });
});

describe("Informer reported to wait", () => {
  test("stays away as long as Retry-After says, longer than its own deadline", async () => {
    const busy = (response: ServerResponse): void =>
      sendStatus(response, 429, "TooManyRequests", { "retry-after": "60" });
    const rig = await start(script([[nodeJson("a", 1)]], [busy, quiet]), "pages", 100);
    await eventually("watching", () => rig.server.watches.length === 2);
    expect(rig.log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["delayMs"])).toEqual([
      60_000,
    ]);
  });
});

describe("Informer handlers", () => {
  test("one that throws hurts no other and is counted", async () => {
    const rig = await start(script([[nodeJson("a", 1)]], [quiet]), "pages");
    rig.informer.addHandler({
      onAdd: () => {
        throw new Error("handler broke");
      },
    });
    const late: string[] = [];
    rig.informer.addHandler({ onAdd: ({ metadata }) => late.push(metadata.name) });
    await rig.informer.whenSynced(AbortSignal.timeout(5000));
    expect(rig.reported).toEqual(["*a"]);
    expect(late).toEqual(["a"]);
    expect(await rig.metrics.value("cloudwire_informer_handler_failures_total", { kind: "Node" })).toBe(1);
  });

  test("one added late is given what the cache holds; one taken off is not notified any longer", async () => {
    const rig = await start(script([[nodeJson("a", 1)]], [quiet]), "pages");
    await rig.informer.whenSynced(AbortSignal.timeout(5000));
    const late: string[] = [];
    const remove = rig.informer.addHandler(
      { onAdd: ({ metadata }) => late.push(metadata.name), onUpdate: () => late.push("resync") },
      { resyncMs: 200 },
    );
    await eventually("resynced", () => late.includes("resync"));
    remove();
    const length = late.length;
    expect(late[0]).toBe("a");
    let resyncs = 0;
    rig.informer.addHandler({ onUpdate: () => resyncs++ }, { resyncMs: 200 });
    await eventually("resynced for another", () => resyncs >= 2);
    expect(late).toHaveLength(length);
  });
});

function errorEvent(response: ServerResponse, code: number, reason: string): void {
  beginWatch(response);
  writeEvent(response, "ERROR", { kind: "Status", code, reason, message: `${reason} by script` });
}
