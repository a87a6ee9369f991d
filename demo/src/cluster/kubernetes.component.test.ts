import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { at, numberAt, textAt } from "./json.ts";
import { Kubernetes } from "./kubernetes.ts";

const POLL = { timeout: 10_000, interval: 10 };

interface Watch {
  readonly resourceVersion: string;
  readonly response: ServerResponse;
}

let server: Server;
let lists: unknown[];
let watches: Watch[];
let end: AbortController;
let kubernetes: Kubernetes;

beforeEach(async () => {
  lists = [];
  watches = [];
  end = new AbortController();
  server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const resourceVersion = url.searchParams.get("resourceVersion");
    if (url.pathname === "/refused") response.writeHead(403).end("not permitted");
    else if (resourceVersion === null) response.end(JSON.stringify(lists.shift()));
    else {
      response.flushHeaders();
      watches.push({ resourceVersion, response });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  kubernetes = new Kubernetes({
    url: `http://127.0.0.1:${numberAt(server.address(), "port")}`,
    signal: end.signal,
  });
});

afterEach(async () => {
  end.abort();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const object = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });
const list = (resourceVersion: string, ...items: readonly unknown[]) => ({ metadata: { resourceVersion }, items });
const send = (watch: Watch | undefined, type: string, changed: unknown) =>
  watch?.response.write(`${JSON.stringify({ type, object: changed })}\n`);
const watchAt = (index: number) => vi.waitUntil(() => watches[index], POLL);

test("follow() reports each change once, also changes between two watches", async () => {
  lists = [list("10", object("a", "1")), list("20", object("a", "3"), object("c", "15"))];
  const reported: string[] = [];
  const version = (value: unknown) => textAt(value, "metadata", "resourceVersion") || "-";
  const following = kubernetes.follow("/things", (before, after) => {
    reported.push(`${textAt(after ?? before, "metadata", "name")} ${version(before)}>${version(after)}`);
  });

  const first = await watchAt(0);
  send(first, "ADDED", object("b", "2"));
  send(first, "MODIFIED", object("a", "3"));
  send(first, "BOOKMARK", { metadata: { resourceVersion: "12" } });
  await vi.waitFor(() => expect(reported).toEqual(["a ->1", "b ->2", "a 1>3"]), POLL);

  first.response.end();
  const second = await watchAt(1);
  send(second, "DELETED", object("c", "21"));
  await vi.waitFor(() => expect(reported.slice(3)).toEqual(["c ->15", "b 2>-", "c 15>-"]), POLL);
  expect(watches.map(({ resourceVersion }) => resourceVersion)).toEqual(["10", "20"]);

  end.abort();
  await following;
});

test("follow() lists again when the watch answers that its start is too old", async () => {
  lists = [list("10"), list("20")];
  const following = kubernetes.follow("/things", () => undefined);
  send(await watchAt(0), "ERROR", { kind: "Status", code: 410 });
  expect((await watchAt(1)).resourceVersion).toBe("20");
  end.abort();
  await following;
});

test("a rejected call fails with the message of the server", async () => {
  const refused = await kubernetes.get("/refused").catch((error: unknown) => error);
  expect(at(refused, "message")).toBe("GET /refused failed with 403: not permitted");
  expect(at(refused, "status")).toBe(403);
});
