import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { servePage } from "./assets.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import { type RunningServer, serveQuery } from "./endpoints.ts";

let directory: string;
let server: RunningServer;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cloudwire-page-test-"));
  const file = (name: string): URL => pathToFileURL(join(directory, name));
  server = await startLoopbackServer({
    address: { host: "127.0.0.1", port: 0 },
    register: (pages) => {
      servePage(pages, {
        path: "/status",
        assets: [
          { name: "", file: file("index.html"), type: "text/html; charset=utf-8" },
          { name: "app.js", file: file("app.js"), type: "text/javascript; charset=utf-8" },
        ],
        missing: "It is not built; build it.",
      });
      serveQuery(pages, "/echo", async (query) => ({ kind: "json", text: JSON.stringify(query) }));
    },
  });
});

afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** As a browser of another page would, which sets headers that fetch() does not let us set. */
function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { port } = new URL(server.url);
  const outgoing = request({ host: "127.0.0.1", port, path, method, headers, timeout: 10_000 }, (incoming) => {
    let text = "";
    incoming.on("data", (bytes: Buffer) => (text += bytes.toString()));
    incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
  });
  outgoing.once("error", reject);
  outgoing.end();
  return promise;
}

describe("startLoopbackServer()", () => {
  test.each([
    { host: "localhost", status: 200 },
    { host: "LOCALHOST:8080", status: 200 },
    { host: "127.0.0.1:10269", status: 200 },
    { host: "127.8.8.8", status: 200 },
    { host: "[::1]:1", status: 200 },
    { host: "rebound.example:10269", status: 421 },
    { host: "localhost.rebound.example", status: 421 },
    { host: "127.0.0.1.rebound.example", status: 421 },
    { host: "10.0.0.1", status: 421 },
    { host: "[::]", status: 421 },
  ])("responds to host $host with $status", async ({ host, status }) => {
    expect(await ask("/echo", { host })).toMatchObject({ status });
  });

  test.each([
    {
      sentence: "the page itself",
      headers: { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
      status: 200,
    },
    { sentence: "the address bar", headers: { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, status: 200 },
    {
      sentence: "a link elsewhere",
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      status: 200,
    },
    {
      sentence: "a frame in another page",
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      status: 403,
    },
    { sentence: "another page", headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, status: 403 },
    { sentence: "another port", headers: { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" }, status: 403 },
  ])("answers $sentence with $status", async ({ headers, status }) => {
    expect(await ask("/echo", headers)).toMatchObject({ status });
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("refuses %s: nothing can be changed there", async (method) => {
    expect(await ask("/echo", {}, method)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});

describe("servePage()", () => {
  test("explains how to build a missing page, and serves it once it exists", async () => {
    expect(await ask("/status/")).toMatchObject({ status: 404, text: "It is not built; build it.\n" });
    await writeFile(join(directory, "index.html"), "<p>here</p>");
    expect(await ask("/status/")).toMatchObject({ status: 200, text: "<p>here</p>" });
  });

  test("sends security headers", async () => {
    await writeFile(join(directory, "index.html"), "<p>here</p>");
    const { headers } = await ask("/status/");
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-cache",
      "content-type": "text/html; charset=utf-8",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("sends a file again only when it is another", async () => {
    await writeFile(join(directory, "app.js"), "one()");
    const first = await ask("/status/app.js");
    const etag = String(first.headers["etag"]);
    const again = await ask("/status/app.js", { "if-none-match": `"other", W/${etag}` });
    await writeFile(join(directory, "app.js"), "two()");
    const changed = await ask("/status/app.js", { "if-none-match": etag });
    expect([first, again, changed].map(({ status, text }) => [status, text])).toEqual([
      [200, "one()"],
      [304, ""],
      [200, "two()"],
    ]);
    expect(again.headers["content-security-policy"]).toBe(first.headers["content-security-policy"]);
  });

  test("redirects the bare path to the page, behind any prefix", async () => {
    expect(await ask("/status")).toMatchObject({ status: 308, headers: { location: "status/" } });
  });

  test.each(["/status/other.js", "/status/..%2fpackage.json", "/status/app.js/"])("has no %s", async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404 });
  });
});

describe("serveQuery()", () => {
  test("uses the last of repeated parameters", async () => {
    expect(await ask("/echo?a=1&a=2&b=%20x")).toMatchObject({
      status: 200,
      text: '{"a":"2","b":" x"}',
      headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-cache, private" },
    });
  });
});
