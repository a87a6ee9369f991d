import { constants } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { SecureContextOptions } from "node:tls";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { KubeClient } from "../kube/client.ts";
import type { ApiAccess } from "../kube/connection/access.ts";
import { kubeconfigAccess } from "../kube/connection/kubeconfig.ts";
import type { HostPort } from "../options/flag.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import type { TaskGroup } from "../util/task-group.ts";
import { type Identity, authenticate } from "./access/authenticator.ts";
import { TrustSource, authoritiesOf } from "./access/client-trust.ts";
import { measuredAccess } from "./access/metrics.ts";
import { type Attributes, Authorizer, TokenAuthenticator, type User } from "./access/reviews.ts";
import { ServingCertificate } from "./certificates/serving-certificate.ts";
import type { RunningServer } from "./endpoints.ts";
import { type ServingOptions, tlsSettings } from "./options.ts";

/** Key, certificate and the authorities of client certificates, as they are at this moment. */
export interface SecureContext {
  current(): SecureContextOptions;
  /** Calls back whenever they have changed; answers how to end that. */
  onChange(listener: () => void): () => void;
}

export interface SecureServerDependencies {
  readonly address: HostPort;
  readonly context: SecureContext;
  readonly authenticate: (request: FastifyRequest["raw"]) => Promise<Identity>;
  /** Rejects when nobody could be asked. */
  readonly isAllowed: (attributes: Attributes) => Promise<boolean>;
  readonly log: Logger;
  /** Puts the pages on. */
  readonly pages: (server: FastifyInstance) => void;
}

/**
 * HTTPS with delegated authentication and authorisation in front of every path, known or not. Sessions are not resumed: a client
 * certificate is verified in every connection, against the authorities of that moment.
 */
export async function startSecureServer(dependencies: SecureServerDependencies): Promise<RunningServer> {
  const { address, context, pages } = dependencies;
  // Who shows no certificate, or a bad one, is anonymous: that is for authorisation to judge.
  const tls = createServer({ ...strict(context.current()), requestCert: true, rejectUnauthorized: false });
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    serverFactory: (handler) => tls.on("request", handler),
  });
  server.addHook("onRequest", (request, reply) => guard(dependencies, request, reply));
  pages(server);
  const stopListening = context.onChange(() => tls.setSecureContext(strict(context.current())));
  // fastify does not know that the server it was given speaks TLS.
  const url = (await server.listen(address)).replace(/^http:/, "https:");
  return {
    url,
    close: async () => {
      stopListening();
      await server.close();
    },
  };
}

function strict(context: SecureContextOptions): SecureContextOptions {
  return {
    minVersion: "TLSv1.2",
    ...context,
    // Neither a later connection nor a later handshake in this one may bring another identity than the one that was verified.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Answers itself whoever may not go on. */
async function guard(
  { authenticate, isAllowed, log }: SecureServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const path = pathOf(request.url);
  if (path === undefined)
    return refuse(reply, 400, "BadRequest", "the request target is not a path, or not percent-encoded as it should be");
  const verb = request.method.toLowerCase();
  const identity = await authenticate(request.raw);
  if (identity.kind === "refused") {
    log.debug(4, "Request refused: not authenticated", { verb, path, why: identity.why });
    return refuse(reply, 401, "Unauthorized", "Unauthorized");
  }
  const { user } = identity;
  try {
    if (await isAllowed({ user, verb, path })) return undefined;
  } catch (error) {
    log.warn("The API server could not be asked whether a request is allowed", { verb, path, err: error });
    return refuse(reply, 500, "InternalError", `could not be authorized: ${messageOf(error)}`);
  }
  log.debug(4, "Request refused: not authorized", { verb, path, user: user.name });
  return refuse(reply, 403, "Forbidden", forbidden(user, verb, path));
}

/** Decoded as the router decodes it, so that both judge the same path. */
function pathOf(url: string): string | undefined {
  // The router would look behind these.
  if (!url.startsWith("/") || url.includes("#")) return undefined;
  try {
    return decodeURIComponent(url.split("?", 1)[0] ?? "");
  } catch {
    return undefined;
  }
}

function forbidden(user: User, verb: string, path: string): string {
  return `forbidden: User "${user.name}" cannot ${verb} path "${path}"`;
}

/** metav1.Status, as an API server answers. */
function refuse(reply: FastifyReply, code: number, reason: string, message: string): FastifyReply {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return reply.code(code).header("cache-control", "no-cache, private").send(status);
}

export interface SecureServingDependencies {
  readonly options: ServingOptions;
  /** The cluster's own API server. */
  readonly access: ApiAccess;
  /** A client for an API server. */
  readonly clientOf: (access: ApiAccess) => KubeClient;
  readonly pages: (server: FastifyInstance) => void;
  readonly metrics: Metrics;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Serves the pages over TLS to whom the API server lets. Rejects when address or certificate cannot be had, or a kubeconfig is wrong. */
export async function serveSecurely(dependencies: SecureServingDependencies): Promise<RunningServer> {
  const { options, access, clientOf, pages, metrics, tasks, clock, log } = dependencies;
  const clientFor = async (path: string): Promise<KubeClient> =>
    clientOf(path === "" ? access : await kubeconfigAccess({ path, clock }));
  const [tokenClient, reviewClient, certificate] = await Promise.all([
    clientFor(options.authenticationKubeconfig),
    clientFor(options.authorizationKubeconfig),
    loadCertificate(dependencies),
  ]);
  const trust = new TrustSource({
    client: options.authenticationSkipLookup ? undefined : tokenClient,
    clientCaFile: options.clientCaFile,
    proxyCaFile: options.requestheaderClientCaFile,
    proxyHeaders: {
      allowedNames: options.requestheaderAllowedNames,
      usernameHeaders: lowerCase(options.requestheaderUsernameHeaders),
      uidHeaders: lowerCase(options.requestheaderUidHeaders),
      groupHeaders: lowerCase(options.requestheaderGroupHeaders),
      extraPrefixes: lowerCase(options.requestheaderExtraHeadersPrefix),
    },
    clock,
    log,
  });
  await trust.checkFiles();
  const { signal } = tasks;
  const cacheMs = options.authenticationTokenWebhookCacheTtl;
  const tokens = new TokenAuthenticator({ client: tokenClient, clock, signal, cacheMs });
  const authorizer = new Authorizer({
    client: reviewClient,
    clock,
    signal,
    alwaysAllowPaths: options.authorizationAlwaysAllowPaths,
    allowedMs: options.authorizationWebhookCacheAuthorizedTtl,
    deniedMs: options.authorizationWebhookCacheUnauthorizedTtl,
  });
  const delegated = {
    authenticate: (request: IncomingMessage) =>
      authenticate({ trust: () => trust.current, tokens, nowMs: () => clock.nowMs() }, request),
    isAllowed: (attributes: Attributes) => authorizer.isAllowed(attributes),
  };
  const server = await startSecureServer({
    address: { host: options.bindAddress, port: options.securePort },
    context: secureContext(options, certificate, trust),
    ...measuredAccess(delegated, metrics, clock),
    log,
    pages,
  });
  tasks.start("authorities of client certificates", (stop) => trust.run(stop));
  tasks.start("serving certificate", (stop) => certificate.run(stop));
  return server;
}

/** Upstream's names (cloud-provider/options/options.go v0.36.3). */
function loadCertificate({ options, clock, log }: SecureServingDependencies): Promise<ServingCertificate> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = options;
  return ServingCertificate.load({
    settings: {
      certFile: tlsCertFile,
      keyFile: tlsPrivateKeyFile,
      certDir,
      pairName: "cloud-controller-manager",
      hosts: ["localhost", "127.0.0.1"],
    },
    clock,
    log,
  });
}

function secureContext(options: ServingOptions, certificate: ServingCertificate, trust: TrustSource): SecureContext {
  const tls = tlsSettings(options.tlsMinVersion, options.tlsCipherSuites);
  return {
    current: () => ({
      ...certificate.current(),
      ca: authoritiesOf(trust.current).map((authority) => authority.toString()),
      ...tls,
    }),
    onChange: (listener) => {
      const endings = [certificate.onChange(listener), trust.onChange(listener)];
      return () => {
        for (const end of endings) end();
      };
    },
  };
}

function lowerCase(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase());
}
