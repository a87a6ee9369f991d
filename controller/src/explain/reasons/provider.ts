import { ALL, OBJECTS, PAGES, type ReasonRow } from "./row.ts";

/** What is wrong with a provider, or with its cloud. */
export const PROVIDER_REASONS = {
  ProviderUnavailable: {
    of: ALL,
    state: "waiting",
    message: "The provider does not answer.",
    remedy: "See that the provider's process runs and listens where --provider says; its log says why it ended.",
    documentation: PAGES.disaster,
  },
  ProviderRefused: {
    of: ALL,
    state: "blocked",
    message: "The provider's handshake was not accepted.",
    remedy: "Put right what the message names: address, rights of the socket, certificates, or the provider's version.",
    documentation: PAGES.run,
  },
  ScopeInDoubt: {
    of: ALL,
    state: "blocked",
    message: "The provider works in another account, project or region than before, so nothing is changed or deleted.",
    remedy: "Put the provider's credentials right or, if the new scope is meant, accept it as the message says.",
    documentation: PAGES.several,
  },
  NoCredentials: {
    of: ALL,
    state: "blocked",
    message: "The cloud does not accept the provider's credentials, or the provider has none.",
    remedy:
      "Give the provider valid credentials: see the secret that it reads, and its log. It is tried again by itself.",
    documentation: PAGES.errors,
  },
  PermissionDenied: {
    of: ALL,
    state: "blocked",
    message: "The cloud does not let the provider do it.",
    remedy: "Give the provider's identity at the cloud the right that the message names. It is tried again by itself.",
    documentation: PAGES.errors,
  },
  CloudUnavailable: {
    of: ALL,
    state: "waiting",
    message: "The cloud cannot be reached by its provider, or answers with errors of its own.",
    remedy: "See the cloud's status page and the network between provider and cloud.",
    documentation: PAGES.disaster,
  },
  ProviderNotReady: {
    of: ALL,
    state: "waiting",
    message: "The provider says that it is not ready.",
    remedy: "See the conditions that the message names, and the provider's log.",
    documentation: PAGES.disaster,
  },
  ProviderStatusUnknown: {
    of: ["provider"],
    state: "waiting",
    message: "The provider takes calls and does not say how it is.",
    remedy: "See the provider's log.",
    documentation: PAGES.disaster,
  },
  Throttled: {
    of: ALL,
    state: "waiting",
    message: "The cloud takes no more calls for now.",
    remedy: "If it lasts, find who else uses the account's limit, have it raised, or set --provider-call-rate.",
    documentation: PAGES.budget,
  },
  CallsHeldBack: {
    of: OBJECTS,
    state: "waiting",
    message: "Its call waits in line, so that the cloud is not called more often than it allows.",
    remedy: "If it lasts, raise the limit at the cloud, and --provider-call-rate with it.",
    documentation: PAGES.budget,
  },
  QuotaExceeded: {
    of: OBJECTS,
    state: "blocked",
    message: "A quota of the cloud is used up.",
    remedy: "Have the quota raised at the cloud, or free something that counts against it.",
    documentation: PAGES.limits,
  },
  OutcomeUnknown: {
    of: OBJECTS,
    state: "waiting",
    message: "The provider's answer leaves open how things are; it is asked again, and nothing is concluded meanwhile.",
    documentation: PAGES.errors,
  },
  CapabilityAbsent: {
    of: OBJECTS,
    state: "blocked",
    message: "Its provider does not offer what it needs.",
    remedy: "Run a version of the provider that offers it; `cloudwire explain provider/NAME` shows what it does.",
    documentation: PAGES.limits,
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
