import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { ApiAccess } from "../kube/connection/access.ts";
import type { KubeClient } from "../kube/client.ts";
import { kubeconfigAccess } from "../kube/connection/kubeconfig.ts";
import type { Options } from "../app/options.ts";
import { authenticate } from "./access/authenticator.ts";
import { type Attributes, Authorizer } from "./access/reviews.ts";
import { authoritiesOf } from "./access/client-trust.ts";
import { measuredAccess } from "./access/metrics.ts";
import { TokenAuthenticator } from "./access/token-authenticator.ts";
import { TrustSource } from "./access/trust-source.ts";
import { type SecureContext, startSecureServer } from "./secure-server.ts";
import type { RunningServer } from "./server.ts";
import { ServingCertificate } from "./certificates/serving-certificate.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import type { TaskGroup } from "../util/task-group.ts";
import { tlsSettings } from "./tls-settings.ts";

export interface SecureServingDependencies {
  readonly options: Options;
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

function secureContext(options: Options, certificate: ServingCertificate, trust: TrustSource): SecureContext {
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
