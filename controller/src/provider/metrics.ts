import type { Gauge } from "prom-client";
import type { Metrics } from "../telemetry/metrics.ts";
import type { TlsState } from "./connection/channel.ts";
import type { ProviderHealth } from "./connection/state.ts";
import { type BudgetMetrics, budgetMetrics } from "./limits/metrics.ts";
import type { ProviderError } from "./model/errors.ts";
import type { ProviderInfo } from "./model/info.ts";
import { type BreachCounter, breachCounter } from "./observers/breaches.ts";
import { type CallMetrics, callMetrics } from "./observers/metrics.ts";
import type { ProviderStatus } from "./model/status.ts";

/** Metrics of all providers, created once per process. */
export interface ProviderMetrics {
  readonly calls: CallMetrics;
  readonly breaches: BreachCounter;
  readonly budgetsOf: (provider: string) => BudgetMetrics;
}

export function providerMetrics(metrics: Metrics): ProviderMetrics {
  return { calls: callMetrics(metrics), breaches: breachCounter(metrics), budgetsOf: budgetMetrics(metrics) };
}

export interface ShownProvider {
  readonly name: string;
  readonly unavailable: ProviderError | undefined;
  readonly health: ProviderHealth;
  readonly info: Pick<ProviderInfo, "name" | "version"> | undefined;
  readonly status: Pick<ProviderStatus, "credentialsExpireTimeMs" | "rateLimits"> | undefined;
  /** undefined: TLS is not used. */
  readonly tls: TlsState | undefined;
}

/** Labels besides the provider's, and the value of one series; undefined: no series. */
type Series<Label extends string> = readonly [Readonly<Record<Label, string>>, number | undefined];

function seriesOfEach(providers: readonly ShownProvider[]) {
  return <Label extends string = never>(seriesOf: (provider: ShownProvider) => readonly Series<Label>[]) =>
    (gauge: Gauge<"provider" | Label>): void => {
      gauge.reset();
      for (const provider of providers) {
        for (const [own, value] of seriesOf(provider)) {
          const labels: Partial<Record<"provider" | Label, string | number>> = { provider: provider.name, ...own };
          if (value !== undefined) gauge.set(labels, value);
        }
      }
    };
}

/** Gauges that are computed at each scrape. */
export function exposeProviders(metrics: Metrics, providers: readonly ShownProvider[]): void {
  const series = seriesOfEach(providers);
  metrics.gauge({
    name: "cloudwire_provider_usable",
    help: "1: the controller can call the provider. cloudwire_provider_problem shows whether its cloud is available.",
    labels: ["provider"],
    collect: series(({ unavailable }) => [[{}, unavailable === undefined ? 1 : 0]]),
  });
  metrics.gauge({
    name: "cloudwire_provider_problem",
    help: "1 for each problem of a provider. /statusz has the details.",
    labels: ["provider", "reason"],
    collect: series(({ health }) => health.reasons.map(({ name: reason }) => [{ reason }, 1])),
  });
  metrics.gauge({
    name: "cloudwire_provider_info",
    help: "1 for each provider that completed a handshake. The labels hold the provider's own name and version.",
    labels: ["provider", "provider_name", "version"],
    collect: series(({ info }) =>
      info === undefined ? [] : [[{ provider_name: info.name, version: info.version }, 1]],
    ),
  });
  metrics.gauge({
    name: "cloudwire_provider_client_certificate_expiration_timestamp_seconds",
    help: "Unix time when the client certificate for a provider expires. No series without TLS.",
    labels: ["provider"],
    collect: series(({ tls }) => [[{}, seconds(tls?.certificateExpiresAtMs)]]),
  });
  metrics.gauge({
    name: "cloudwire_provider_tls_files_unusable",
    help: "1: the current files of --provider-tls are unusable, and /statusz has the reason. No series without TLS.",
    labels: ["provider"],
    collect: series(({ tls }) => [[{}, tls && (tls.problem === undefined ? 0 : 1)]]),
  });
  metrics.gauge({
    name: "cloudwire_provider_credentials_expiration_timestamp_seconds",
    help: "Unix time when the cloud credentials of a provider expire. No series unless the provider reports it.",
    labels: ["provider"],
    collect: series(({ status }) => [[{}, seconds(status?.credentialsExpireTimeMs)]]),
  });
  const limits = ({ status }: ShownProvider) => status?.rateLimits ?? [];
  metrics.gauge({
    name: "cloudwire_cloud_rate_limit_requests",
    help: "Requests that the cloud allows the account in a period, as reported by the provider.",
    labels: ["provider", "limit"],
    collect: series((one) => limits(one).map(({ name, limit }) => [{ limit: name }, limit])),
  });
  metrics.gauge({
    name: "cloudwire_cloud_rate_limit_remaining_requests",
    help: "Remaining requests of the limit, which other clients of the account also use.",
    labels: ["provider", "limit"],
    collect: series((one) => limits(one).map(({ name, remaining }) => [{ limit: name }, remaining])),
  });
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
