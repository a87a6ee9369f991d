import { ALL, OBJECTS, PAGES, type ReasonRow, rowsOf } from "./row.ts";

const outage = rowsOf(ALL, "docs/guides/disaster-recovery.md");
const access = rowsOf(ALL, PAGES.errors);
const budget = "docs/explanation/call-budget.md";

/** Causes in a provider or in its cloud. */
export const PROVIDER_REASONS = {
  ProviderUnavailable: outage(
    "waiting",
    "The provider does not respond.",
    "Check that the provider runs and listens at its address in --provider. Its log has the reason for an exit.",
  ),
  ProviderHandshakeFailed: rowsOf(ALL, PAGES.run)(
    "blocked",
    "The handshake with the provider failed.",
    "Fix what the message names: the address, the permissions of the socket, the certificates, or the provider's version.",
  ),
  ProviderScopeChanged: rowsOf(ALL, PAGES.several)(
    "blocked",
    "The provider now uses another account, project or region, so nothing is changed or deleted.",
    "Correct the provider's credentials. If the new scope is intended, accept it as the message describes.",
  ),
  InvalidCredentials: access(
    "blocked",
    "The provider has no credentials, or the cloud rejects them.",
    "Give the provider valid credentials: check the Secret that it reads, and its log. The provider retries automatically.",
  ),
  PermissionDenied: access(
    "blocked",
    "The cloud denies the provider a permission.",
    "In the cloud, grant the provider's identity the permission that the message names. The provider retries automatically.",
  ),
  CloudSetupInvalid: access(
    "blocked",
    "Required setup is missing in the cloud or in the provider's settings, such as a tagged subnet.",
    "Complete the setup that the message describes, in the cloud or in the provider's settings. The controller retries automatically.",
  ),
  CloudUnavailable: outage(
    "waiting",
    "The provider cannot reach its cloud, or the cloud returns internal errors.",
    "Check the cloud's status page, and the network between provider and cloud.",
  ),
  ProviderNotReady: outage(
    "waiting",
    "The provider reports that it is not ready.",
    "Check the conditions that the message names, and the provider's log.",
  ),
  ProviderStatusUnknown: rowsOf(["provider"], "docs/guides/disaster-recovery.md")(
    "waiting",
    "The provider accepts calls but does not report its status.",
    "Check the provider's log.",
  ),
  Throttled: rowsOf(ALL, budget)(
    "waiting",
    "The cloud is throttling requests.",
    "If this persists, find the other users of the account's rate limit, request a higher limit, or set --provider-call-rate.",
  ),
  ClientThrottled: rowsOf(OBJECTS, budget)(
    "waiting",
    "The rate limiter delays the call to stay within the cloud's rate limit.",
    "If this persists, request a higher limit from the cloud, and raise --provider-call-rate.",
  ),
  QuotaExceeded: rowsOf(OBJECTS, PAGES.limits)(
    "blocked",
    "A cloud quota is exceeded.",
    "Request a higher quota, or delete resources that count against it.",
  ),
  OutcomeUnknown: rowsOf(OBJECTS, PAGES.errors)(
    "waiting",
    "The outcome of the provider call is unknown. The controller retries the call, and assumes no outcome until then.",
  ),
  CapabilityNotSupported: rowsOf(OBJECTS, PAGES.limits)(
    "blocked",
    "The provider does not support a required capability.",
    "Run a version of the provider that supports this capability. `cloudwire explain provider/NAME` lists the capabilities.",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
