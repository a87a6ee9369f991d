import { beforeEach, describe, expect, test } from "vitest";
import { info } from "../../../test/support/provider/provider-builders.ts";
import { type FailureReason, failureReason } from "../model/failure-reason.ts";
import { type ProviderStatus, notReadyMessage } from "../model/status.ts";
import type { RejectionReason } from "./handshake.ts";
import { reasonOfHealth } from "./health-reason.ts";
import {
  type ConnectionState,
  type HealthReason,
  ScopeGuard,
  untrustedReason,
  healthOf,
  notConnectedError,
  startingError,
} from "./state.ts";

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
  { it: "a provider that has not spoken of itself", said: undefined, want: "its status is not known yet" },
  {
    it: "a word of the process before",
    said: status({ bootId: "boot-0" }),
    want: "its status is not known yet",
  },
  {
    it: "credentials at their end",
    said: status({ credentialsExpireTimeMs: NOW }),
    want: "its credentials have expired",
  },
])("untrustedReason() is $it", ({ reasons = [], want, ...row }) => {
  const said = "said" in row ? row.said : status();
  expect(untrustedReason({ ready: true, reasons }, said, "boot-1", NOW)).toBe(want);
});

const ready: ConnectionState = { kind: "ready", info: info() };
const starting: ConnectionState = { kind: "ready", info: info({ scopeId: "" }) };
const lost: ConnectionState = { kind: "lost", info: info(), why: "the socket was closed" };
const refused: ConnectionState = {
  kind: "refused",
  rejection: { reason: "NotResponding", message: "it does not answer" },
};
const sick = status({
  ready: false,
  conditions: [{ type: "Cloud", status: "False", reason: "Down", message: "503", lastTransitionTimeMs: undefined }],
});
const moved = { confirmed: "project-1", current: "project-2", remedy: "an operator accepts it" };
const NO_SCOPE = "the provider has not reached its cloud yet";

describe("healthOf()", () => {
  test.each<{
    it: string;
    state?: ConnectionState;
    said?: ProviderStatus;
    failures?: number;
    change?: typeof moved;
    isReady: boolean;
    want: readonly HealthReason[];
  }>([
    { it: "a provider that is well", said: status(), isReady: true, want: [] },
    { it: "one that has not said how it is", isReady: true, want: [] },
    {
      it: "one that has not responded yet",
      state: { kind: "connecting" },
      isReady: false,
      want: [{ name: "Connecting", message: "no response to the handshake yet" }],
    },
    {
      it: "one that is refused",
      state: refused,
      isReady: false,
      want: [{ name: "NotResponding", message: "it does not answer" }],
    },
    {
      it: "one that is lost",
      state: lost,
      said: status(),
      isReady: false,
      want: [{ name: "ConnectionLost", message: "the socket was closed" }],
    },
    {
      it: "one that is lost and had a sick cloud",
      state: { ...lost, info: info({ scopeId: "" }) },
      said: sick,
      isReady: false,
      want: [
        { name: "ConnectionLost", message: "the socket was closed" },
        { name: "CloudNotReady", message: "Cloud: Down: 503" },
      ],
    },
    {
      it: "one whose cloud is sick",
      said: sick,
      isReady: true,
      want: [{ name: "CloudNotReady", message: "Cloud: Down: 503" }],
    },
    {
      it: "one that does not know its scope",
      state: starting,
      isReady: true,
      want: [{ name: "CloudNotReady", message: NO_SCOPE }],
    },
    {
      it: "one that does not know its scope, and says why",
      state: starting,
      said: sick,
      isReady: true,
      want: [{ name: "CloudNotReady", message: `${NO_SCOPE}: Cloud: Down: 503` }],
    },
    { it: "two status calls that failed", failures: 2, isReady: true, want: [] },
    {
      it: "three status calls that failed",
      failures: 3,
      isReady: true,
      want: [{ name: "StatusUnknown", message: "3 status calls in a row failed" }],
    },
    {
      it: "another scope, before all else about the cloud",
      said: sick,
      change: moved,
      isReady: true,
      want: [
        {
          name: "ScopeChanged",
          message:
            'the provider now works in scope "project-2" and worked in "project-1" before; nothing is changed or deleted until its credentials are fixed, or, if the new scope is intended, until an operator accepts it',
        },
        { name: "CloudNotReady", message: "Cloud: Down: 503" },
      ],
    },
  ])("reports $it", ({ state = ready, said, failures = 0, change, isReady, want }) => {
    expect(healthOf(state, said, failures, change)).toEqual({ ready: isReady, reasons: want });
  });
});

test.each<{ state: ConnectionState; message: string }>([
  { state: { kind: "connecting" }, message: "provider acme is not connected: no response to the handshake yet" },
  { state: refused, message: "provider acme is not connected: it does not answer" },
  { state: lost, message: "provider acme is not connected: the socket was closed" },
  { state: ready, message: "provider acme is not connected" },
])("notConnectedError() says why when $state.kind", ({ state, message }) => {
  expect(notConnectedError("acme", state)).toMatchObject({ code: "UNAVAILABLE", message });
});

test.each([
  { it: "is none where the scope is known", scopeId: "project-1", said: sick, want: undefined },
  { it: "says that the cloud was not reached", scopeId: "", said: undefined, want: NO_SCOPE },
  { it: "says why it was not", scopeId: "", said: sick, want: `${NO_SCOPE}: Cloud: Down: 503` },
])("startingError() $it", ({ scopeId, said, want }) => {
  const error = startingError("acme", info({ scopeId }), said);
  expect([error?.reason, error?.message]).toEqual(
    want === undefined ? [undefined, undefined] : ["PROVIDER_STARTING", `provider acme: ${want}`],
  );
});

/** The condition of an object whose call failed has the reason that explains the provider itself. */
test.each<[RejectionReason, FailureReason]>([
  ["SocketMissing", "ProviderUnavailable"],
  ["CertificateExpired", "ProviderHandshakeFailed"],
  ["UnsupportedContract", "ProviderHandshakeFailed"],
])("notConnectedError() after %s has reason %s", (name, want) => {
  const state: ConnectionState = { kind: "refused", rejection: { reason: name, message: "no" } };
  expect(failureReason(notConnectedError("acme", state))).toBe(want);
  expect(reasonOfHealth(name, undefined)).toBe(want);
});

test.each<[type: string, FailureReason]>([
  ["CredentialsValid", "InvalidCredentials"],
  ["CloudReachable", "CloudUnavailable"],
  ["Warm", "ProviderNotReady"],
])("startingError() has the reason of the failed condition %s: %s", (type, want) => {
  const condition = { type, status: "False", reason: "Bad", message: "no", lastTransitionTimeMs: undefined } as const;
  const error = startingError("acme", info({ scopeId: "" }), { ...sick, conditions: [condition] });
  expect(error && failureReason(error)).toBe(want);
  // Retried as soon as the provider has reached its cloud.
  expect(error?.class).toBe("TRANSIENT");
});

test("notReadyMessage() omits the unknown where something is known to be wrong", () => {
  const condition = { reason: "NotChecked", message: "not asked", lastTransitionTimeMs: undefined };
  const unknown = { ...condition, type: "CloudReachable", status: "Unknown" } as const;
  const broken = {
    ...condition,
    type: "CredentialsValid",
    status: "False",
    reason: "Refused",
    message: "no key",
  } as const;
  expect([
    notReadyMessage(status({ conditions: [unknown, broken] })),
    notReadyMessage(status({ conditions: [unknown] })),
  ]).toEqual(["CredentialsValid: Refused: no key", "CloudReachable: NotChecked: not asked"]);
});

describe("scope guard", () => {
  let guard: ScopeGuard;
  beforeEach(() => {
    guard = new ScopeGuard((current) => `accept ${current}`);
  });

  const from = (confirmed: string, current: string) => ({ confirmed, current, remedy: `accept ${current}` });

  describe("ScopeGuard with nothing written down", () => {
    test("trusts the first scope it sees", () => {
      expect(guard.change).toBeUndefined();
      guard.see("a");
      expect([guard.change, guard.confirmed]).toEqual([undefined, "a"]);
    });

    test("does not trust another scope until the first one is back", () => {
      guard.see("a");
      guard.see("b");
      guard.recall("");
      expect([guard.change, guard.confirmed]).toEqual([from("a", "b"), "a"]);
      guard.see("");
      expect(guard.change).toEqual(from("a", "b"));
      guard.see("a");
      expect(guard.change).toBeUndefined();
    });
  });

  describe("ScopeGuard with a scope written down", () => {
    test.each([
      ["before", () => (guard.recall("a"), guard.see("b"))],
      ["after", () => (guard.see("b"), guard.recall("a"))],
    ])("does not trust the first one it sees when that is another, read %s it was seen", (_, happen) => {
      happen();
      expect([guard.change, guard.confirmed]).toEqual([from("a", "b"), "a"]);
    });

    test("trusts the one that is written down", () => {
      guard.recall("a");
      guard.see("a");
      expect(guard.change).toBeUndefined();
    });

    test("trusts another as soon as that is written down", () => {
      guard.recall("a");
      guard.see("b");
      guard.recall("b");
      expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
    });

    test("trusts whatever is when nothing is written down any more", () => {
      guard.recall("a");
      guard.see("b");
      guard.recall("");
      expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
      guard.recall("");
      guard.see("c");
      expect(guard.change).toEqual(from("b", "c"));
    });

    test("trusts the next one that is seen when nothing is written down any more before any was", () => {
      guard.recall("a");
      guard.recall("");
      guard.see("b");
      expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
    });

    test("stays untrusted however often the same is read", () => {
      guard.see("b");
      guard.recall("a");
      guard.see("b");
      guard.recall("a");
      expect(guard.change).toEqual(from("a", "b"));
    });
  });
});
