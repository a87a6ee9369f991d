import type { Gauge } from "prom-client";
import type { Metrics } from "../telemetry/metrics.ts";
import type { TlsState } from "./connection/channel.ts";
import type { ProviderHealth } from "./connection/state.ts";
import { type BudgetMetrics, budgetMetrics } from "./limits/metrics.ts";
import type { ProviderError } from "./model/errors.ts";
import type { ProviderInfo } from "./model/info.ts";
import { type CallMetrics, callMetrics } from "./observers/metrics.ts";
import type { ProviderStatus, RateLimit } from "./model/status.ts";

/** What is measured of providers; made once a process, shared by all of them. */
export interface ProviderMetrics {
  readonly calls: CallMetrics;
  /** Of one provider's budgets; to be asked for once each. */
  readonly budgetsOf: (provider: string) => BudgetMetrics;
}

export function providerMetrics(metrics: Metrics): ProviderMetrics {
  return { calls: callMetrics(metrics), budgetsOf: budgetMetrics(metrics) };
}

/** A provider as far as metrics show it. */
export interface ShownProvider {
  /** From the options. */
  readonly name: string;
  /** Why it cannot be called now; undefined when it can. */
  readonly unavailable: ProviderError | undefined;
  readonly health: ProviderHealth;
  readonly info: Pick<ProviderInfo, "name" | "version"> | undefined;
  readonly status: Pick<ProviderStatus, "credentialsExpireTimeMs" | "rateLimits"> | undefined;
  /** undefined: TLS is not used. */
  readonly tls: TlsState | undefined;
}

/** Shows how each provider is at the time of a scrape. */
export function exposeProviders(metrics: Metrics, providers: readonly ShownProvider[]): void {
  metrics.gauge({
    name: "cloudwire_provider_usable",
    help: "1: the controller can call the provider. cloudwire_provider_problem shows whether its cloud is available.",
    labels: ["provider"],
    collect: (gauge) => {
      for (const { name, unavailable } of providers) gauge.set({ provider: name }, unavailable === undefined ? 1 : 0);
    },
  });
  metrics.gauge({
    name: "cloudwire_provider_problem",
    help: "1 for each problem of a provider. /statusz has the details.",
    labels: ["provider", "reason"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name, health } of providers) {
        for (const reason of health.reasons) gauge.set({ provider: name, reason: reason.name }, 1);
      }
    },
  });
  metrics.gauge({
    name: "cloudwire_provider_info",
    help: "1 for each provider that completed a handshake. The labels hold the provider's own name and version.",
    labels: ["provider", "provider_name", "version"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name, info } of providers) {
        if (info !== undefined) gauge.set({ provider: name, provider_name: info.name, version: info.version }, 1);
      }
    },
  });
  exposeCertificates(metrics, providers);
  exposeClouds(metrics, providers);
}

/** What we show to providers on other hosts. */
function exposeCertificates(metrics: Metrics, providers: readonly ShownProvider[]): void {
  metrics.gauge({
    name: "cloudwire_provider_client_certificate_expiration_timestamp_seconds",
    help: "Unix time when the client certificate for a provider expires. No series without TLS.",
    labels: ["provider"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name, tls } of providers) {
        const expireMs = tls?.certificateExpiresAtMs;
        if (expireMs !== undefined) gauge.set({ provider: name }, expireMs / 1000);
      }
    },
  });
  metrics.gauge({
    name: "cloudwire_provider_tls_files_unusable",
    help: "1: the current files of --provider-tls are unusable, and /statusz has the reason. No series without TLS.",
    labels: ["provider"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name, tls } of providers) {
        if (tls !== undefined) gauge.set({ provider: name }, tls.problem === undefined ? 0 : 1);
      }
    },
  });
}

/** What providers say of the accounts that they work in. */
function exposeClouds(metrics: Metrics, providers: readonly ShownProvider[]): void {
  metrics.gauge({
    name: "cloudwire_provider_credentials_expiration_timestamp_seconds",
    help: "Unix time when the cloud credentials of a provider expire. No series unless the provider reports it.",
    labels: ["provider"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name, status } of providers) {
        const expireMs = status?.credentialsExpireTimeMs;
        if (expireMs !== undefined) gauge.set({ provider: name }, expireMs / 1000);
      }
    },
  });
  const eachLimit = (gauge: Gauge<"provider" | "limit">, valueOf: (limit: RateLimit) => number): void => {
    gauge.reset();
    for (const { name, status } of providers) {
      for (const limit of status?.rateLimits ?? []) gauge.set({ provider: name, limit: limit.name }, valueOf(limit));
    }
  };
  metrics.gauge({
    name: "cloudwire_cloud_rate_limit_requests",
    help: "Requests that the cloud allows the account in a period, as reported by the provider.",
    labels: ["provider", "limit"],
    collect: (gauge) => eachLimit(gauge, ({ limit }) => limit),
  });
  metrics.gauge({
    name: "cloudwire_cloud_rate_limit_remaining_requests",
    help: "Remaining requests of the limit, which other clients of the account also use.",
    labels: ["provider", "limit"],
    collect: (gauge) => eachLimit(gauge, ({ remaining }) => remaining),
  });
}
