import { expect, test } from "vitest";
import { absenceDoubt, type HealthReason } from "./connection-state.ts";
import type { ProviderStatus } from "./provider-status.ts";

const NOW = 1_000_000;

const status = (parts: Partial<ProviderStatus> = {}): ProviderStatus => ({
  ready: true,
  bootId: "boot-1",
  scopeId: "project-1",
  configRevision: "",
  conditions: [],
  lastCloudSuccessTimeMs: undefined,
  credentialsExpireTimeMs: undefined,
  rateLimits: [],
  receivedAtMs: NOW,
  ...parts,
});

test.each<{
  it: string;
  reasons?: readonly HealthReason[];
  said?: ProviderStatus | undefined;
  want: string | undefined;
}>([
  { it: "nothing in a healthy provider", want: undefined },
  { it: "nothing in credentials that still hold", said: status({ credentialsExpireTimeMs: NOW + 1 }), want: undefined },
  {
    it: "what makes it unhealthy, the first of it",
    reasons: [
      { name: "ScopeChanged", message: "another scope" },
      { name: "CloudNotReady", message: "no cloud" },
    ],
    want: "another scope",
  },
  { it: "a provider that has not spoken of itself", said: undefined, want: "it has not said yet whether it is ready" },
  {
    it: "a word of the process before",
    said: status({ bootId: "boot-0" }),
    want: "it has not said yet whether it is ready",
  },
  {
    it: "credentials at their end",
    said: status({ credentialsExpireTimeMs: NOW }),
    want: "its credentials have expired",
  },
])("absenceDoubt() is $it", ({ reasons = [], want, ...row }) => {
  const said = "said" in row ? row.said : status();
  expect(absenceDoubt({ ready: true, reasons }, said, "boot-1", NOW)).toBe(want);
});
