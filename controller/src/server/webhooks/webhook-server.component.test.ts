import { type RequestOptions, request } from "node:https";
import { connect, type PeerCertificate } from "node:tls";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { MemoryTraces } from "../../../test/support/memory-traces.ts";
import type { AdmissionRequest, AdmissionWebhook } from "../../api/admission.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { NO_TRACING, type Tracing } from "../../telemetry/tracing.ts";
import { aborted } from "../../util/abort.ts";
import type { RunningServer } from "../endpoints.ts";
import { selfSignedCertificate } from "../certificates/self-signed.ts";
import { ServingCertificate } from "../certificates/serving-certificate.ts";
import { webhookMetrics } from "./metrics.ts";
import { startWebhookServer } from "./webhook-server.ts";

const REVIEW = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "r-1", operation: "CREATE", resource: { group: "", version: "v1", resource: "pods" }, object: {} },
};
const JSON_TYPE = { "content-type": "application/json" };

let clock: FakeClock;
let log: FakeLog;
let metrics: Metrics;
let certificate: ServingCertificate;
let server: RunningServer | undefined;
let directory: string;
let admit: AdmissionWebhook["admit"];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "webhook-"));
  clock = new FakeClock(Date.now());
  log = new FakeLog();
  metrics = new Metrics();
  admit = () => Promise.resolve({ kind: "allowed", patch: [], warnings: [] });
  const settings = { certFile: "", keyFile: "", certDir: directory, pairName: "webhook", hosts: ["127.0.0.1"] };
  certificate = await ServingCertificate.load({ settings, clock, log });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(directory, { recursive: true });
});

async function start(tracing: Tracing = NO_TRACING): Promise<string> {
  server = await startWebhookServer({
    address: { host: "127.0.0.1", port: 0 },
    webhooks: [{ name: "test", path: "/test", admit: (review, signal) => admit(review, signal) }],
    certificate,
    tls: { minVersion: "TLSv1.2" },
    metrics: webhookMetrics(metrics),
    clock,
    log,
    tracing,
  });
  return server.url;
}

/** A POST by a client that trusts the certificate alone. */
function post(url: string, body: string, headers: RequestOptions["headers"] = JSON_TYPE) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const ca = certificate.current().cert;
  const outgoing = request(url, { method: "POST", ca, headers, agent: false, timeout: 20_000 }, (incoming) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.once("error", reject);
    incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
  });
  outgoing.once("timeout", () => outgoing.destroy(new Error("no answer")));
  outgoing.once("error", reject);
  outgoing.end(body);
  return promise;
}

const requests = (code: string) => metrics.value("cloud_provider_webhook_request_total", { code, webhook: "test" });

describe("startWebhookServer()", () => {
  test.each([
    [
      "continues the API server's trace",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      /^00-0af7.{28}-.{16}-01$/,
      1,
    ],
    ["leaves one alone that is not exported", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", /-00$/, 0],
    ["begins a trace where the caller's is malformed", "nonsense", /^00-(?!0af7).{32}-.{16}-01$/, 1],
  ])("%s", async (_what, traceparent, wanted, exported) => {
    const traces = new MemoryTraces();
    const seen: (string | undefined)[] = [];
    admit = async () => {
      seen.push(traces.tracing.current?.traceparent);
      return { kind: "allowed", patch: [], warnings: [] };
    };
    const url = await start(traces.tracing);
    const { status } = await post(`${url}/test`, JSON.stringify(REVIEW), { ...JSON_TYPE, traceparent });
    expect(status).toBe(200);
    expect(seen).toEqual([expect.stringMatching(wanted)]);
    expect(traces.spans.map(({ name }) => name)).toEqual(Array.from({ length: exported }, () => "POST /test"));
  });

  test("responds to a review with the webhook's decision, and counts it", async () => {
    const seen: AdmissionRequest[] = [];
    admit = (review) => {
      seen.push(review);
      return Promise.resolve({ kind: "allowed", patch: [], warnings: ["w"] });
    };
    const { status, text } = await post(`${await start()}/test?timeout=10s`, JSON.stringify(REVIEW));
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: "r-1", allowed: true, warnings: ["w"] },
      },
    ]);
    expect(seen).toEqual([expect.objectContaining({ uid: "r-1", operation: "CREATE" })]);
    await vi.waitFor(async () => expect(await requests("200")).toBe(1), { timeout: 20_000 });
    expect(await metrics.value("cloudwire_webhook_certificate_expiration_timestamp_seconds")).toBe(
      certificate.expiresAtMs / 1000,
    );
  });

  test.each([
    { sentence: "an empty body", body: "", headers: JSON_TYPE, status: 400, text: /body/i },
    { sentence: "broken JSON", body: "{", headers: JSON_TYPE, status: 400, text: /JSON/ },
    {
      sentence: "another prototype",
      body: '{"__proto__":{}}',
      headers: JSON_TYPE,
      status: 400,
      text: /not valid JSON/,
    },
    {
      sentence: "what is no review",
      body: "[]",
      headers: JSON_TYPE,
      status: 400,
      text: /^want an AdmissionReview as JSON\n$/,
    },
    {
      sentence: "plain text",
      body: "hello",
      headers: { "content-type": "text/plain" },
      status: 400,
      text: /AdmissionReview/,
    },
    {
      sentence: "another content type",
      body: "a: 1",
      headers: { "content-type": "application/yaml" },
      status: 400,
      text: /application\/yaml|Media/i,
    },
    {
      sentence: "more than 4 MiB",
      body: `"${"x".repeat(4 * 1024 * 1024)}"`,
      headers: JSON_TYPE,
      status: 413,
      text: /large/i,
    },
  ])("refuses $sentence with $status and one line", async ({ body, headers, status, text }) => {
    const answer = await post(`${await start()}/test`, body, headers);
    expect(answer).toEqual({ status, text: expect.stringMatching(text) });
    expect(answer.text.split("\n")).toHaveLength(2);
    await vi.waitFor(async () => expect(await requests(String(status))).toBe(1), { timeout: 20_000 });
    expect(log.messages("error")).toEqual([]);
  });

  test("accepts a content type with a charset", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect(await post(`${await start()}/test`, JSON.stringify(REVIEW), headers)).toMatchObject({ status: 200 });
  });

  test("knows no other path", async () => {
    expect(await post(`${await start()}/other`, JSON.stringify(REVIEW))).toMatchObject({ status: 404 });
  });

  test("responds 500 without details when the webhook fails, and logs the error", async () => {
    admit = () => Promise.reject(new Error("secret detail"));
    expect(await post(`${await start()}/test`, JSON.stringify(REVIEW))).toEqual({
      status: 500,
      text: "internal error; see the webhook's log\n",
    });
    expect(log.lines).toEqual([
      {
        level: "error",
        message: "Webhook failed",
        fields: { webhook: "test", err: expect.objectContaining({ message: "secret detail" }) },
      },
    ]);
  });

  test.each([
    { query: "?timeout=10s", afterMs: 9000 },
    { query: "?timeout=5s", afterMs: 4500 },
    { query: "?timeout=300s", afterMs: 29_000 },
    { query: "", afterMs: 9000 },
    { query: "?timeout=soon", afterMs: 9000 },
    { query: "?timeout=0", afterMs: 9000 },
  ])("gives the webhook $afterMs ms for $query", async ({ query, afterMs }) => {
    let isAborted = false;
    admit = async (_review, signal) => {
      await aborted(signal);
      isAborted = true;
      return { kind: "allowed", patch: [], warnings: [] };
    };
    const answer = post(`${await start()}/test${query}`, JSON.stringify(REVIEW));
    await vi.waitFor(() => expect(clock.nextTimerMs).toBe(afterMs), { timeout: 20_000 });
    await clock.advance(afterMs - 1);
    expect(isAborted).toBe(false);
    await clock.advance(1);
    expect([(await answer).status, isAborted, clock.timers]).toEqual([200, true, 0]);
  });

  test("serves the next certificate to new connections", async () => {
    const url = await start();
    const before = await peerOf(url);
    const { certificate: cert, key } = selfSignedCertificate({
      commonName: "next",
      hosts: ["127.0.0.1"],
      nowMs: clock.nowMs(),
      validMs: 86_400_000,
    });
    await writeFile(join(directory, "webhook.key"), key);
    await writeFile(join(directory, "webhook.crt"), cert);
    const life = new AbortController();
    const running = certificate.run(life.signal);
    await clock.advance(10_000);
    await vi.waitFor(async () => expect((await peerOf(url)).subject.CN).toBe("next"), { timeout: 20_000 });
    expect(before.subject.CN).toBe("webhook");
    expect(await post(`${url}/test`, JSON.stringify(REVIEW))).toMatchObject({ status: 200 });
    life.abort(new Error("over"));
    await running;
  });

  test("speaks no TLS older than 1.2", async () => {
    const { hostname, port } = new URL(await start());
    const { promise, resolve } = Promise.withResolvers<string>();
    const options = { host: hostname, port: Number(port), ca: certificate.current().cert };
    const socket = connect({ ...options, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
    socket.once("secureConnect", () => resolve("connected"));
    socket.once("error", ({ message }) => resolve(message));
    expect(await promise).toMatch(/protocol version/i);
    socket.destroy();
  });

  test("rejects when the address is in use", async () => {
    const port = Number(new URL(await start()).port);
    const second = startWebhookServer({
      address: { host: "127.0.0.1", port },
      webhooks: [],
      certificate,
      tls: { minVersion: "TLSv1.2" },
      metrics: webhookMetrics(new Metrics()),
      clock,
      log,
      tracing: NO_TRACING,
    });
    await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

/** The certificate that a new connection is shown. */
function peerOf(url: string): Promise<PeerCertificate> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>();
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  socket.once("secureConnect", () => {
    resolve(socket.getPeerCertificate());
    socket.destroy();
  });
  socket.once("error", reject);
  return promise;
}
