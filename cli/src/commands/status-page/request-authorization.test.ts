import { describe, expect, test } from "vitest";
import { authorize } from "./request-authorization.ts";

const access = { port: 4000, secret: "s3cret-s3cret" };
const own = { host: "127.0.0.1:4000" };
const known = { ...own, cookie: "other=1; cloudwire-4000=s3cret-s3cret" };

const get = (url: string, headers: object = known, method = "GET") =>
  authorize({ method, url, headers: { ...headers } }, access);

describe("authorize()", () => {
  test.each([
    ["/?secret=s3cret-s3cret", own, { kind: "letIn" }],
    ["/", known, { kind: "toPage" }],
    ["/status/", known, { kind: "forward", path: "/status/" }],
    ["/status/app.js", known, { kind: "forward", path: "/status/app.js" }],
    ["/debug/objects?kind=node&search=%2F", known, { kind: "forward", path: "/debug/objects?kind=node&search=%2F" }],
    ["/debug/stream", { ...known, host: "localhost:4000" }, { kind: "forward", path: "/debug/stream" }],
    ["/debug/controllers/cloud-node", known, { kind: "forward", path: "/debug/controllers/cloud-node" }],
  ])("allows %s", (url, headers, result) => {
    expect(get(url, headers)).toEqual(result);
  });

  test.each([
    ["another site's name for this address", "/status/", { ...known, host: "evil.example:4000" }, 421],
    ["no name at all", "/status/", { cookie: known.cookie }, 421],
    ["another port", "/status/", { ...known, host: "127.0.0.1:4001" }, 421],
    ["who has no secret", "/status/", own, 403],
    ["a wrong secret", "/?secret=s3cret-s3creT", own, 403],
    ["an empty secret", "/?secret=", own, 403],
    ["a cookie of another port", "/status/", { ...own, cookie: "cloudwire-4001=s3cret-s3cret" }, 403],
    ["the heap, which has keys in it", "/debug/pprof/heap", known, 404],
    ["metrics", "/metrics", known, 404],
    ["what only begins so", "/debug/explainer", known, 404],
    ["a path that leads elsewhere", "/status/%2e%2e/debug/pprof/heap", known, 404],
    ["what is no address", "//", known, 400],
    ["an invalid address", "//[", own, 400],
    ["an encoded slash", "/status/..%2fdebug/pprof/heap", known, 404],
  ])("refuses %s", (_what, url, headers, status) => {
    expect(get(url, headers)).toMatchObject({ kind: "refuse", status });
  });

  test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("refuses %s", (method) => {
    expect(get("/debug/flags/v", known, method)).toMatchObject({ kind: "refuse", status: 405 });
  });
});
