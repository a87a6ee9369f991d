import type { Server } from "node:https";
import type { SecureContextOptions } from "node:tls";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AdmissionDecision, AdmissionRequest, AdmissionWebhook } from "../../api/admission.ts";
import { type HostPort, parseDurationMs } from "../../options/flag.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { SpanStart, Tracing } from "../../telemetry/tracing.ts";
import { deadlineSignal } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { DecodeError, type JsonRecord, isRecord, recordField, stringField } from "../../util/json.ts";
import type { ServingCertificate } from "../certificates/serving-certificate.ts";
import type { RunningServer } from "../endpoints.ts";
import type { WebhookMetrics } from "./metrics.ts";

export interface WebhookServerDependencies {
  readonly address: HostPort;
  readonly webhooks: readonly AdmissionWebhook[];
  readonly certificate: ServingCertificate;
  readonly tls: Pick<SecureContextOptions, "minVersion" | "ciphers">;
  readonly metrics: WebhookMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Each request is a span below the API server's. */
  readonly tracing: Tracing;
}

/** kube-apiserver accepts objects of 3 MiB, which a review wraps (apiserver/pkg/server/config.go v0.36.3). */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** API servers keep few connections. */
const MAX_CONNECTIONS = 256;

/** Time to receive a request. */
const RECEIVE_MS = 10_000;

/** Default and maximum of a webhook's `timeoutSeconds`. */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 30_000;

/** Part of the API server's timeout that is reserved for the network: maximum and share. */
const MAX_MARGIN_MS = 1000;
const MARGIN = 0.1;

/** Pending requests get this long at shutdown. */
const CLOSE_MS = 10_000;

/** Serves admission webhooks over TLS. Rejects when it cannot listen. */
export async function startWebhookServer(deps: WebhookServerDependencies): Promise<RunningServer> {
  const { address, webhooks, certificate, tls, metrics, clock } = deps;
  const server = fastify({
    logger: false,
    https: { ...certificate.current(), ...tls },
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: RECEIVE_MS,
    forceCloseConnections: "idle",
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  const showExpiry = (): void => metrics.certificateExpirySeconds.set(certificate.expiresAtMs / 1000);
  showExpiry();
  certificate.onChange(() => {
    server.server.setSecureContext({ ...certificate.current(), ...tls });
    showExpiry();
  });
  for (const webhook of webhooks) serveWebhook(server, webhook, deps);
  const url = await server.listen(address);
  return { url, close: () => closeInTime(server, clock) };
}

type HttpsServer = FastifyInstance<Server>;

function serveWebhook(server: HttpsServer, webhook: AdmissionWebhook, deps: WebhookServerDependencies): void {
  const { metrics, clock, log, tracing } = deps;
  void server.register(async (scope) => {
    const startedMs = new WeakMap<FastifyRequest, number>();
    scope.addHook("onRequest", async (request) => void startedMs.set(request, clock.monotonicMs()));
    scope.addHook("onResponse", async (request, reply) => {
      const labels = { code: String(reply.statusCode), webhook: webhook.name };
      metrics.requests.inc(labels);
      const tookMs = clock.monotonicMs() - (startedMs.get(request) ?? clock.monotonicMs());
      metrics.latencySeconds.observe(labels, tookMs / 1000);
    });
    scope.setErrorHandler((error, _request, reply) => refuse(error, reply, webhook, log));
    scope.post(webhook.path, async (request, reply) => {
      const review = parseReview(request.body);
      const admit = (): Promise<AdmissionDecision> => decide(webhook, review, timeoutOf(request.query), deps);
      const decision = await tracing.root(() => admissionSpan(webhook, review), admit, callerOf(request));
      return reply.type("application/json").send(formatReview(review.uid, decision));
    });
  });
}

function admissionSpan({ name, path }: AdmissionWebhook, { uid }: AdmissionRequest): SpanStart {
  const attributes = {
    "http.request.method": "POST",
    "http.route": path,
    "cloudwire.webhook": name,
    "cloudwire.uid": uid,
  };
  return { name: `POST ${path}`, kind: "server", attributes };
}

/** The API server's trace context, if tracing is enabled there. */
function callerOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}

async function decide(
  webhook: AdmissionWebhook,
  review: AdmissionRequest,
  timeoutMs: number,
  { clock }: WebhookServerDependencies,
) {
  const answerWithinMs = timeoutMs - Math.min(MAX_MARGIN_MS, timeoutMs * MARGIN);
  const what = `webhook ${webhook.name}, request ${review.uid}`;
  using deadline = deadlineSignal(new AbortController().signal, answerWithinMs, what, clock);
  // Awaited here: returning disposes the deadline.
  return await webhook.admit(review, deadline.signal);
}

/** As upstream: 400 for an invalid review, 500 for an internal error. The text ends up in the API server's log. */
function refuse(error: unknown, reply: FastifyReply, webhook: AdmissionWebhook, log: Logger): FastifyReply {
  const code = statusOf(error);
  if (code === 500) log.error("Webhook failed", { webhook: webhook.name, err: error });
  else log.debug(2, "Rejected a webhook request", { webhook: webhook.name, code, detail: messageOf(error) });
  const text = code === 500 ? "internal error; see the webhook's log" : messageOf(error);
  return reply.code(code).type("text/plain; charset=utf-8").send(`${text}\n`);
}

function statusOf(error: unknown): number {
  if (error instanceof DecodeError) return 400;
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  // Wrong content type: upstream responds 400 too.
  if (status === 415) return 400;
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}

/** `?timeout=10s`, which the API server sends. */
function timeoutOf(query: unknown): number {
  const text = typeof query === "object" && query !== null && "timeout" in query ? query.timeout : undefined;
  const timeoutMs = typeof text === "string" ? parseDurationMs(text) : undefined;
  return timeoutMs === undefined || timeoutMs === 0 ? DEFAULT_TIMEOUT_MS : Math.min(timeoutMs, MAX_TIMEOUT_MS);
}

async function closeInTime(server: HttpsServer, clock: Clock): Promise<void> {
  const timer = clock.schedule(CLOSE_MS, () => server.server.closeAllConnections());
  try {
    await server.close();
  } finally {
    timer.cancel();
  }
}

const API_VERSION = "admission.k8s.io/v1";
const KIND = "AdmissionReview";

/** Throws DecodeError when `body` is not a review. */
export function parseReview(body: unknown): AdmissionRequest {
  if (!isRecord(body)) throw new DecodeError(`want an ${KIND} as JSON`);
  const [apiVersion, kind] = [stringField(body, "apiVersion"), stringField(body, "kind")];
  if (apiVersion !== API_VERSION || kind !== KIND) {
    throw new DecodeError(`want ${API_VERSION} ${KIND}, got "${apiVersion}" "${kind}"`);
  }
  const request = body["request"];
  if (!isRecord(request)) throw new DecodeError("the review has no request");
  const uid = stringField(request, "uid");
  if (uid === "") throw new DecodeError("the request has no uid");
  const resource = recordField(request, "resource");
  const object = request["object"];
  return {
    uid,
    resource: {
      group: stringField(resource, "group"),
      version: stringField(resource, "version"),
      resource: stringField(resource, "resource"),
    },
    subResource: stringField(request, "subResource"),
    operation: stringField(request, "operation"),
    object: isRecord(object) ? object : undefined,
  };
}

export function formatReview(uid: string, decision: AdmissionDecision): JsonRecord {
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...responseOf(decision) } };
}

/** Characters of a warning that the API server forwards: apiserver/pkg/endpoints/filters/warning.go v0.36.3. */
const MAX_WARNING = 256;

function responseOf(decision: AdmissionDecision): JsonRecord {
  switch (decision.kind) {
    case "allowed": {
      const { patch, warnings } = decision;
      return {
        allowed: true,
        ...(patch.length === 0
          ? {}
          : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
        ...(warnings.length === 0 ? {} : { warnings: warnings.map((text) => text.slice(0, MAX_WARNING)) }),
      };
    }
    case "denied":
      return { allowed: false, status: denialStatus(decision) };
    default:
      return decision satisfies never;
  }
}

/** metav1.Status. With `retryAfterSeconds` the client receives Retry-After, and client-go retries automatically. */
function denialStatus({
  message,
  reason,
  retryAfterSeconds,
}: Extract<AdmissionDecision, { kind: "denied" }>): JsonRecord {
  const status =
    reason === "forbidden" ? { code: 403, reason: "Forbidden" } : { code: 503, reason: "ServiceUnavailable" };
  return { ...status, message, ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }) };
}
