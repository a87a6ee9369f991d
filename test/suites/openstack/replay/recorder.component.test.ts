import { type FakeCloud, startFakeCloud } from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { at } from "../../../support/kube.ts";
import { Recorder } from "./recorder.ts";
import { formatRecording, parseRecording, type Recording } from "./recording.ts";
import { Replayer } from "./replayer.ts";

const server = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const secret = "a-secret-word";

let cloud: FakeCloud;
let status: string;

beforeEach(async () => {
  status = "BUILD";
  cloud = await startFakeCloud();
  const endpoints = [{ interface: "public", region_id: "one", url: `${cloud.url}/v2.1/` }];
  const token = { expires_at: "2026-11-23T00:00:00Z", catalog: [{ type: "compute", endpoints }] };
  cloud.serve({
    "POST /v3/auth/tokens": () => ({ status: 201, headers: { "x-subject-token": "gAAA" }, body: { token } }),
    "GET /v2.1/servers/:id": ({ params, headers }) => {
      if (headers["x-auth-token"] !== "gAAA") return { status: 401, body: {} };
      return { body: { server: { id: params["id"], status, links: [`${cloud.url}/v2.1/servers/${params["id"]}`] } } };
    },
    "PUT /v2.1/servers/:id": () => {
      status = "ACTIVE";
      return { status: 202 };
    },
  });
});
afterEach(() => cloud.close());

/** Logs in, looks at a server, changes it and looks again: what was answered. */
async function use(authUrl: string, id: string, word: string) {
  const login = await fetch(`${authUrl}/auth/tokens`, {
    method: "POST",
    body: JSON.stringify({ auth: { secret: word } }),
  });
  const token = login.headers.get("x-subject-token") ?? "";
  const about = at(await login.json(), "token");
  const headers = { "x-auth-token": token, "openstack-api-version": "compute 2.69" };
  const path = `${String(at(about, "catalog", 0, "endpoints", 0, "url"))}/servers/${id}`;
  const look = async (): Promise<unknown> => (await fetch(path, { headers })).json();
  const before = await look();
  await fetch(path, { method: "PUT", headers, body: JSON.stringify({ server: { id } }) });
  return {
    token,
    expires: String(at(about, "expires_at")),
    states: [before, await look()].map((each) => at(each, "server", "status")),
  };
}

async function recorded(): Promise<Recording> {
  const authUrl = `${cloud.url}/v3`;
  const rest = { services: { nova: "34.0.0" }, secrets: [], names: new Map<string, string>(), handedOut: [] };
  await using recorder = await Recorder.start({ scenario: "server", authUrl, ...rest });
  recorder.addFact("server", { id: server });
  recorder.begin("changed");
  recorder.beforeNextWrite(async () => undefined);
  const { states } = await use(recorder.authUrl, server, secret);
  expect(states).toEqual(["BUILD", "ACTIVE"]);
  expect(recorder.asked()).toHaveLength(4);
  return recorder.recording();
}

test("Recorder writes down what passes, without secrets, and Replayer answers the same", async () => {
  const text = formatRecording(await recorded());
  expect(text).not.toMatch(/gAAA|a-secret-word|8f1d2c3b|127\.0\.0\.1/);

  await using replayer = await Replayer.start(parseRecording(text));
  replayer.begin("changed");
  const { id = "" } = replayer.fact("server");
  const { states, token, expires } = await use(replayer.authUrl, id, replayer.secret);
  replayer.end();
  expect({ states, problems: replayer.problems }).toEqual({ states: ["BUILD", "ACTIVE"], problems: [] });
  expect(token).not.toBe("");
  expect(Date.parse(expires)).toBeGreaterThan(Date.now());
});

test("two recordings of the same are the same", async () => {
  const first = formatRecording(await recorded());
  status = "BUILD";
  expect(formatRecording(await recorded())).toBe(first);
});

test("Replayer refuses what was not recorded, and names it", async () => {
  await using replayer = await Replayer.start(await recorded());
  replayer.begin("changed");
  const response = await fetch(`${replayer.authUrl}/users`, { headers: { "x-auth-token": "replayed-token" } });
  expect(response.status).toBe(500);
  expect(await response.text()).toContain("asked what was not recorded:\n  GET /identity/v3/users");
  expect(replayer.problems).toHaveLength(1);
});

test("Replayer takes no token but its own", async () => {
  await using replayer = await Replayer.start(await recorded());
  const url = `${replayer.authUrl.replace("/identity/v3", "")}/compute/v2.1/servers/1`;
  expect((await fetch(url, { headers: { "x-auth-token": "gAAA" } })).status).toBe(401);
});

test("Recorder reports services that no catalog has named", async () => {
  const rest = { services: {}, secrets: [], names: new Map<string, string>(), handedOut: [] };
  await using recorder = await Recorder.start({ scenario: "server", authUrl: `${cloud.url}/v3`, ...rest });
  const response = await fetch(`${recorder.authUrl.replace("/identity/v3", "")}/compute/v2.1/servers`);
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("knows no service compute")]);
});
