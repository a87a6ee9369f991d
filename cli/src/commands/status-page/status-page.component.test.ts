import { request, type IncomingHttpHeaders } from "node:http";
import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeController } from "../../test/fake-controller.ts";
import { type Ran, runCli } from "../../test/run-cli.ts";
import { overview } from "../../test/samples.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

let controller: FakeController;
let stop: AbortController;
let ended: Promise<Ran>;
/** What the command printed. */
let url: URL;

beforeEach(async () => {
  controller = await FakeController.start();
  controller.pages.set(PATHS.overview, { body: overview });
  controller.pages.set(`${PATHS.page}/`, {
    body: "<html>",
    headers: {
      "content-type": "text/html",
      "content-security-policy": "default-src 'none'",
      "set-cookie": "a=b",
      server: "x",
    },
  });
  stop = new AbortController();
  const printed = Promise.withResolvers<string>();
  const server = ["--server", `https://127.0.0.1:${controller.port}`, "--insecure-skip-tls-verify"];
  ended = runCli(["status-page", ...server], { signal: stop.signal, onOut: printed.resolve });
  url = new URL((await printed.promise).trim());
});
afterEach(async () => {
  stop.abort();
  await ended;
  await controller[Symbol.asyncDispose]();
});

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = request({ host: "127.0.0.1", port: url.port, path, method, headers, agent: false }, (incoming) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, text, headers: incoming.headers }));
  });
  outgoing.once("error", reject);
  outgoing.end();
  return promise;
}

const signIn = async (): Promise<string> => {
  const { headers } = await ask(`${url.pathname}${url.search}`);
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
};

describe("cloudwire status-page", () => {
  test("prints an address that gives a browser a cookie and the page", async () => {
    expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?secret=[\w-]{32}$/);
    const { status, headers } = await ask(`${url.pathname}${url.search}`);
    expect([status, headers.location]).toEqual([303, "/status/"]);
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(/^cloudwire-\d+=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
  });

  test("passes on pages with what protects them, and nothing of who asks or answers", async () => {
    const cookie = await signIn();
    const page = await ask("/status/", { cookie, authorization: "Bearer browser" });
    expect([page.status, page.text, page.headers["content-security-policy"]]).toEqual([
      200,
      "<html>",
      "default-src 'none'",
    ]);
    expect([page.headers["set-cookie"], page.headers["server"]]).toEqual([undefined, undefined]);
    expect(controller.seen.at(-1)).toMatchObject({ url: "/status/", cookie: undefined, authorization: undefined });
  });

  test.each([
    ["without the cookie", "/status/", {}, "GET", 403],
    ["by another name", "/status/", { host: "evil.example" }, "GET", 421],
    ["for the heap", "/debug/pprof/heap", {}, "GET", 403],
    ["to write", "/debug/flags/v", {}, "PUT", 405],
  ])("asks the controller nothing %s", async (_what, path, headers, method, status) => {
    const before = controller.seen.length;
    expect((await ask(path, headers, method)).status).toBe(status);
    expect(controller.seen.length).toBe(before);
  });

  test("reports to the browser that the controller does not respond", async () => {
    const cookie = await signIn();
    await controller[Symbol.asyncDispose]();
    expect(await ask("/status/", { cookie })).toMatchObject({
      status: 502,
      text: expect.stringContaining("cannot reach"),
    });
    controller = await FakeController.start();
  });

  test("asks with fresh credentials when those it had are not known any more", async () => {
    const cookie = await signIn();
    const answers = [{ status: 401, body: "expired" }, { body: "fresh" }, { status: 401, body: "expired" }];
    controller.pages.set(`${PATHS.page}/app.js`, () => answers.shift() ?? { status: 401, body: "for good" });
    const ask1 = await ask("/status/app.js", { cookie });
    const ask2 = await ask("/status/app.js", { cookie });
    expect([ask1.status, ask1.text, ask2.status, ask2.text]).toEqual([200, "fresh", 401, "for good"]);
  });

  test("ends when it is interrupted", async () => {
    stop.abort();
    expect(await ended).toMatchObject({ code: 0 });
    await expect(ask("/status/")).rejects.toThrow("ECONNREFUSED");
  });
});
