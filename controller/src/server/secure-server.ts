import { constants } from "node:crypto";
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
import { authenticate } from "./access/authenticator.ts";
import { TrustSource, authoritiesOf } from "./access/client-trust.ts";
import { type Access, measuredAccess } from "./access/metrics.ts";
import { authorizer, tokenAuthenticator } from "./access/reviews.ts";
import { ServingCertificate } from "./certificates/serving-certificate.ts";
import type { RunningServer } from "./endpoints.ts";
import { type ServingOptions, tlsSettings } from "./options.ts";

/** Key, certificate and client CA certificates. */
export interface SecureContext {
  current(): SecureContextOptions;
  onChange(listener: () => void): void;
}

export interface SecureServerDependencies extends Access {
  readonly address: HostPort;
  readonly context: SecureContext;
  readonly log: Logger;
  /** Registers the endpoints. */
  readonly register: (server: FastifyInstance) => void;
}

/**
 * HTTPS with delegated authentication and authorization for every path, known or not. Sessions are not resumed: every connection
 * verifies the client certificate against the current CA certificates.
 */
export async function startSecureServer(dependencies: SecureServerDependencies): Promise<RunningServer> {
  const { address, context, register } = dependencies;
  // A client without a valid certificate is anonymous; authorization decides.
  const tls = createServer({ ...strict(context.current()), requestCert: true, rejectUnauthorized: false });
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    serverFactory: (handler) => tls.on("request", handler),
  });
  server.addHook("onRequest", (request, reply) => guard(dependencies, request, reply));
  register(server);
  context.onChange(() => tls.setSecureContext(strict(context.current())));
  // fastify does not know that this server uses TLS.
  const url = (await server.listen(address)).replace(/^http:/, "https:");
  return { url, close: () => server.close() };
}

function strict(context: SecureContextOptions): SecureContextOptions {
  return {
    minVersion: "TLSv1.2",
    ...context,
    // No resumption and no renegotiation: either could bring an identity that was not verified.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}

async function guard(
  { authenticate, isAllowed, log }: SecureServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const path = pathOf(request.url);
  if (path === undefined) return refuse(reply, 400, "BadRequest", "the request target is not a valid path");
  const verb = request.method.toLowerCase();
  const identity = await authenticate(request.raw);
  if (identity.kind === "refused") {
    log.debug(4, "Rejected a request: not authenticated", { verb, path, detail: identity.message });
    return refuse(reply, 401, "Unauthorized", "Unauthorized");
  }
  const { user } = identity;
  try {
    if (await isAllowed({ user, verb, path })) return undefined;
  } catch (error) {
    log.warn("Could not authorize a request", { verb, path, err: error });
    return refuse(reply, 500, "InternalError", `authorization failed: ${messageOf(error)}`);
  }
  log.debug(4, "Rejected a request: not authorized", { verb, path, user: user.name });
  return refuse(reply, 403, "Forbidden", `forbidden: User "${user.name}" cannot ${verb} path "${path}"`);
}

/** Decoded as the router does, so that both see the same path. */
function pathOf(url: string): string | undefined {
  // The router would parse these differently.
  if (!url.startsWith("/") || url.includes("#")) return undefined;
  try {
    return decodeURIComponent(url.split("?", 1)[0] ?? "");
  } catch {
    return undefined;
  }
}

/** metav1.Status, as the API server. */
function refuse(reply: FastifyReply, code: number, reason: string, message: string): FastifyReply {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return reply.code(code).header("cache-control", "no-cache, private").send(status);
}

export interface SecureServingDependencies {
  readonly options: ServingOptions;
  /** The cluster's API server. */
  readonly access: ApiAccess;
  readonly clientOf: (access: ApiAccess) => KubeClient;
  readonly register: (server: FastifyInstance) => void;
  readonly metrics: Metrics;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Serves the endpoints to authorized users. Rejects when it cannot listen, or a certificate or kubeconfig cannot be used. */
export async function serveSecurely(dependencies: SecureServingDependencies): Promise<RunningServer> {
  const { options, access, clientOf, register, metrics, tasks, clock, log } = dependencies;
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
  const tokens = tokenAuthenticator({ client: tokenClient, clock, signal, cacheMs });
  const delegated: Access = {
    authenticate: (request) =>
      authenticate({ trust: () => trust.current, tokens, nowMs: () => clock.nowMs() }, request),
    isAllowed: authorizer({
      client: reviewClient,
      clock,
      signal,
      alwaysAllowPaths: options.authorizationAlwaysAllowPaths,
      allowedMs: options.authorizationWebhookCacheAuthorizedTtl,
      deniedMs: options.authorizationWebhookCacheUnauthorizedTtl,
    }),
  };
  const server = await startSecureServer({
    address: { host: options.bindAddress, port: options.securePort },
    context: secureContext(options, certificate, trust),
    ...measuredAccess(delegated, metrics, clock),
    log,
    register,
  });
  tasks.start("client CA certificates", (stop) => trust.run(stop));
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
      certificate.onChange(listener);
      trust.onChange(listener);
    },
  };
}

function lowerCase(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase());
}
