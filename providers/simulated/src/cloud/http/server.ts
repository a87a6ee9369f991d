import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyTypeProvider,
  LogController,
  type RawServerDefault,
} from "fastify";
import type { Static, TSchema } from "typebox";
import { errorCodes } from "../../api/errors.ts";
import { CloudError } from "../errors.ts";
import { compileValidator } from "./validation.ts";

interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends TSchema ? Static<this["schema"]> : unknown;
  readonly serializer: this["schema"] extends TSchema ? Static<this["schema"]> : unknown;
}

/** The HTTP server; the types of requests follow from the schemas of the paths. */
export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  SchemaTypes
>;

/** 10,000 instances in one request are some 3 MB, 20,000 targets some 400 kB. */
const maxBodyBytes = 32 * 2 ** 20;

/** A server that answers every failure as {code, message, requestId}. */
export const createHttpServer = (logLevel: string): HttpServer => {
  const server = fastify({
    logger: { level: logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    genReqId: () => randomUUID(),
    requestIdHeader: "x-request-id",
    // A call that hangs on purpose must not keep the server from ending.
    forceCloseConnections: true,
    return503OnClosing: false,
  }).withTypeProvider<SchemaTypes>();
  server.setValidatorCompiler(({ schema, httpPart }) => compileValidator(schema, httpPart));
  server.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id);
  });
  server.setNotFoundHandler((request) => {
    throw new CloudError("NoSuchEndpoint", `no ${request.method} ${request.url.split("?")[0] ?? ""}`);
  });
  server.setErrorHandler(async (error, request, reply) => {
    const known = toCloudError(error);
    if (known.code === "InternalError" && known !== error) request.log.error({ error }, "request failed");
    if (known.retryAfterSeconds !== undefined) void reply.header("retry-after", String(known.retryAfterSeconds));
    return reply.code(known.status).send({ code: known.code, message: known.message, requestId: request.id });
  });
  return server;
};

/** What fastify rejects (invalid JSON, too large) is the client's error; unknown errors are ours and are not disclosed. */
const toCloudError = (error: unknown): CloudError => {
  if (error instanceof CloudError) return error;
  if (error instanceof Error && "statusCode" in error && typeof error.statusCode === "number") {
    if (error.statusCode >= 400 && error.statusCode < errorCodes.InternalError.status) {
      return new CloudError("InvalidRequest", error.message);
    }
  }
  return new CloudError("InternalError", "the cloud failed to carry out the request");
};
