import { expect, test } from "vitest";
import { Metrics } from "../telemetry/metrics.ts";
import { ProviderError } from "./model/errors.ts";
import { exposeProviders, type ShownProvider } from "./metrics.ts";

const good: ShownProvider = {
  name: "east",
  unavailable: undefined,
  health: { ready: true, reasons: [] },
  info: { name: "acme.example.com", version: "1.2.3" },
  status: {
    credentialsExpireTimeMs: 1_800_000_000_000,
    rateLimits: [{ name: "reads", limit: 600, remaining: 20, resetTimeMs: undefined }],
  },
  tls: undefined,
};

const away: ShownProvider = {
  name: "west",
  unavailable: new ProviderError({ code: "UNAVAILABLE", message: "gone" }),
  health: { ready: false, reasons: [{ name: "SocketMissing", message: "no such file" }] },
  info: undefined,
  status: undefined,
  tls: { certificateExpiresAtMs: 1_900_000_000_000, problem: "expired" },
};

async function samples(metrics: Metrics): Promise<readonly string[]> {
  const text = await metrics.text();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test("exposeProviders() shows each provider as it is at the scrape, and nothing of what it does not say", async () => {
  const metrics = new Metrics();
  const providers = [good, away];
  exposeProviders(metrics, providers);
  expect(await samples(metrics)).toEqual([
    'cloudwire_provider_usable{provider="east"} 1',
    'cloudwire_provider_usable{provider="west"} 0',
    'cloudwire_provider_problem{provider="west",reason="SocketMissing"} 1',
    'cloudwire_provider_info{provider="east",provider_name="acme.example.com",version="1.2.3"} 1',
    'cloudwire_provider_client_certificate_expiration_timestamp_seconds{provider="west"} 1900000000',
    'cloudwire_provider_tls_files_unusable{provider="west"} 1',
    'cloudwire_provider_credentials_expiration_timestamp_seconds{provider="east"} 1800000000',
    'cloudwire_cloud_rate_limit_requests{provider="east",limit="reads"} 600',
    'cloudwire_cloud_rate_limit_remaining_requests{provider="east",limit="reads"} 20',
  ]);
});

test("exposeProviders() lets go of what is no longer so", async () => {
  const metrics = new Metrics();
  const providers = [away];
  exposeProviders(metrics, providers);
  await samples(metrics);
  providers.splice(0, 1, { ...good, name: "west", status: undefined });
  expect(await samples(metrics)).toEqual([
    'cloudwire_provider_usable{provider="west"} 1',
    'cloudwire_provider_info{provider="west",provider_name="acme.example.com",version="1.2.3"} 1',
  ]);
});
