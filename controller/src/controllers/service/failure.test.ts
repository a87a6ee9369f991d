import { describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import type { EventInput } from "../../api/event.ts";
import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import { ApiError } from "../../kube/errors.ts";
import { ProviderError, contractError } from "../../provider/model/errors.ts";
import { RetryAfterError, TerminalError } from "../../util/errors.ts";
import {
  LoadBalancerSyncError,
  describe as describeError,
  failureText,
  readinessOfFailure,
  settleFailure,
  waitsFor,
} from "./failure.ts";

const lost = new ProviderError({ code: "UNAVAILABLE", message: "provider acme is not connected" });
const inEnsure = (cause: Error, isReported = false) =>
  new LoadBalancerSyncError("failed to ensure: why", { cause, isReported });

describe("describe()", () => {
  test.each([
    {
      reason: "ADDRESS_IN_USE",
      metadata: { address: "192.0.2.7", owner: "lb-of-b" },
      want: "acme EnsureLoadBalancer: ADDRESS_IN_USE: address 192.0.2.7 is in use",
    },
    {
      reason: "ADDRESS_IN_USE",
      metadata: { address: "that of lb-of-b" },
      want: "acme EnsureLoadBalancer: ADDRESS_IN_USE: the requested address is in use",
    },
    {
      reason: "NAME_TAKEN",
      metadata: { name: "web", id: "lb-of-b" },
      want: "acme EnsureLoadBalancer: NAME_TAKEN: another object in the cloud has the name of the load balancer",
    },
  ] as const)(
    "does not name what another tenant owns for $reason with $metadata (case A-7)",
    ({ reason, metadata, want }) => {
      const message = `acme EnsureLoadBalancer: ${reason}: load balancer lb-of-b of tenant-b/db has it`;
      expect(describeError(contractError(reason, message, { metadata }))).toBe(want);
      expect(describeError(contractError(reason, "lb-of-b has it", { metadata }))).toBe(want.replace(/^.*?: /, ""));
    },
  );

  test("keeps the message of other errors", () => {
    expect(describeError(contractError("QUOTA_EXCEEDED", "acme: QUOTA_EXCEEDED: 5 of 5"))).toBe(
      "acme: QUOTA_EXCEEDED: 5 of 5",
    );
  });
});

/** The recorded events and the result for the queue. */
function settle(error: Error, { failures = 0, inARow = 1, aborted = false, random = 0.5 } = {}) {
  const events: EventInput[] = [];
  const context = {
    key: "default/web",
    priority: "high",
    signal: aborted ? AbortSignal.abort(new Error("stopped")) : new AbortController().signal,
    log: new FakeLog(),
    reconcileID: "r",
    failures,
  } as const;
  const outcome = (): unknown => {
    try {
      return settleFailure(
        error,
        service("web"),
        { events: { record: (event) => events.push(event) }, random: () => random, inARow },
        context,
      );
    } catch (thrown) {
      return thrown;
    }
  };
  return { outcome: outcome(), reported: events.map(({ reason, message }) => `${reason}: ${message}`) };
}

/** The events for an error. */
const failed = (error: Error): string => `SyncLoadBalancerFailed: Error syncing load balancer: ${failureText(error)}`;

describe("settleFailure()", () => {
  test.each([
    {
      it: "an error of the provider",
      error: inEnsure(contractError("DEPENDENCY_IN_USE", "in use")),
    },
    { it: "a provider's error by itself", error: contractError("CLOUD_UNAVAILABLE", "503") },
    { it: "an error of the API server", error: new Error("patch: 500") },
    { it: "what must not be left out", error: new TerminalError("spec.ports: no SCTP") },
  ])("reports and passes on $it", ({ error }) => {
    expect(settle(error)).toEqual({
      outcome: error,
      reported: [failed(error)],
    });
  });

  test.each([
    { it: "what was reported already", error: inEnsure(contractError("CLOUD_TIMEOUT", "x"), true), options: {} },
    { it: "a connection lost for the first time", error: inEnsure(lost), options: { failures: 0 } },
    { it: "an end of the process", error: inEnsure(contractError("QUOTA_EXCEEDED", "x")), options: { aborted: true } },
  ])("passes on $it without a word", ({ error, options }) => {
    expect(settle(error, options)).toEqual({ outcome: error, reported: [] });
  });

  test("reports throttling by the cloud, but not by the rate limiter", () => {
    const keptBack = contractError("RATE_LIMITED", "on hold", { retryAfterMs: 6000, isClientThrottled: true });
    expect(settle(inEnsure(keptBack), { failures: 5 })).toMatchObject({
      outcome: { retryAfterMs: 6000 },
      reported: [],
    });
    const throttled = contractError("RATE_LIMITED", "slow down", { retryAfterMs: 1000 });
    expect(settle(inEnsure(throttled)).reported).toHaveLength(1);
  });

  test("reports a connection that stays lost", () => {
    expect(settle(inEnsure(lost), { failures: 1 }).reported).toHaveLength(1);
  });

  test.each([
    { error: contractError("OPERATION_IN_PROGRESS", "busy"), delayMs: 2000, message: "busy" },
    { error: inEnsure(contractError("STALE_GENERATION", "older")), delayMs: 2000, message: "failed to ensure: why" },
    {
      error: inEnsure(contractError("OPERATION_IN_PROGRESS", "busy", { retryAfterMs: 0 })),
      delayMs: 2000,
      message: "failed to ensure: why",
    },
    {
      error: inEnsure(contractError("OPERATION_IN_PROGRESS", "busy", { retryAfterMs: 4000 })),
      delayMs: 4000,
      message: "failed to ensure: why",
    },
  ])("requeues after $delayMs ms when the provider is busy (case A-3)", ({ error, delayMs, message }) => {
    const outcome = { kind: "requeue_after", delayMs, why: { reason: "busy", message } };
    expect(settle(error)).toEqual({ outcome, reported: [] });
  });

  test.each([
    { inARow: 15, retryAfterMs: undefined, delayMs: 2000, isReported: false },
    { inARow: 16, retryAfterMs: undefined, delayMs: 5000, isReported: true },
    { inARow: 18, retryAfterMs: undefined, delayMs: 20_000, isReported: true },
    { inARow: 18, retryAfterMs: 700, delayMs: 20_000, isReported: true },
    { inARow: 16, retryAfterMs: 9000, delayMs: 9000, isReported: true },
    { inARow: 99, retryAfterMs: undefined, delayMs: 300_000, isReported: true },
  ])(
    "waits $delayMs ms at failure $inARow of a provider that stays busy",
    ({ inARow, retryAfterMs, delayMs, isReported }) => {
      const error = inEnsure(contractError("OPERATION_IN_PROGRESS", "busy", { retryAfterMs }));
      const { outcome, reported } = settle(error, { inARow });
      expect({ outcome, reported }).toEqual({
        outcome: isReported
          ? new RetryAfterError("failed to ensure: why", delayMs, { cause: error })
          : { kind: "requeue_after", delayMs, why: { reason: "busy", message: "failed to ensure: why" } },
        reported: isReported ? [failed(error)] : [],
      });
    },
  );

  test.each([
    { reason: "FIELD_INVALID" as const, inARow: 1, delayMs: 1_800_000 },
    { reason: "DELETION_PROTECTED" as const, inARow: 1, delayMs: 60_000 },
    { reason: "DELETION_PROTECTED" as const, inARow: 9, delayMs: 300_000 },
    { reason: "QUOTA_EXCEEDED" as const, inARow: 9, delayMs: 900_000 },
    { reason: "DEADLINE_PASSED" as const, inARow: 1, delayMs: 1000 },
    { reason: "DEADLINE_PASSED" as const, inARow: 20, delayMs: 300_000 },
  ])("waits $delayMs ms at failure $inARow of $reason, and reports it", ({ reason, inARow, delayMs }) => {
    const error = inEnsure(contractError(reason, "no"));
    expect(settle(error, { inARow })).toEqual({
      outcome: new RetryAfterError("failed to ensure: why", delayMs, { cause: error }),
      reported: [failed(error)],
    });
  });

  test.each([
    { random: 0, reason: "QUOTA_EXCEEDED" as const, retryAfterMs: undefined, delayMs: 54_000 },
    { random: 1, reason: "QUOTA_EXCEEDED" as const, retryAfterMs: undefined, delayMs: 66_000 },
    { random: 0, reason: "OPERATION_IN_PROGRESS" as const, retryAfterMs: undefined, delayMs: 4500 },
    { random: 0, reason: "RATE_LIMITED" as const, retryAfterMs: 7000, delayMs: 7000 },
    { random: 1, reason: "RATE_LIMITED" as const, retryAfterMs: 7000, delayMs: 7000 },
  ])("spreads waits of $reason, but keeps to what the provider asks", ({ random, reason, retryAfterMs, delayMs }) => {
    const { outcome } = settle(inEnsure(contractError(reason, "no", { retryAfterMs })), {
      random,
      inARow: reason === "OPERATION_IN_PROGRESS" ? 16 : 1,
    });
    expect(outcome).toMatchObject({ retryAfterMs: delayMs });
  });
});

describe("failure readiness", () => {
  const TRANSIENT = "retrying in 5 seconds to 5 minutes";
  const OPERATOR = "retrying in 1 to 5 minutes, or when the Service changes";
  const UNKNOWN = "retrying in 1 second to 5 minutes";

  /** What stands behind a failure: when it is tried again, and what to do where something can be done. */
  function hint(reason: LoadBalancerReadyReason, nextTry: string): string {
    const remedy = LOAD_BALANCER_REMEDIES[reason];
    return remedy === undefined ? `(${nextTry})` : `(${nextTry}). To fix: ${remedy}`;
  }

  describe("readinessOfFailure()", () => {
    test.each([
      { reason: "QUOTA_EXCEEDED", want: ["False", "QuotaExceeded", "retrying in 1 to 15 minutes"] },
      { reason: "ADDRESS_IN_USE", want: ["False", "Conflict", OPERATOR] },
      { reason: "NAME_TAKEN", want: ["False", "Conflict", OPERATOR] },
      { reason: "OWNED_BY_ANOTHER_CLUSTER", want: ["False", "OwnedByAnotherCluster", OPERATOR] },
      { reason: "DELETION_PROTECTED", want: ["False", "DeletionProtected", OPERATOR] },
      { reason: "DEPENDENCY_IN_USE", want: ["False", "DependencyInUse", TRANSIENT] },
      { reason: "NOT_READY", want: ["False", "CloudBusy", TRANSIENT] },
      { reason: "OPERATION_IN_PROGRESS", want: ["False", "CloudBusy", TRANSIENT] },
      { reason: "STALE_GENERATION", want: ["False", "CloudBusy", UNKNOWN] },
      { reason: "CLOUD_PERMISSION_DENIED", want: ["False", "PermissionDenied", OPERATOR] },
      { reason: "CLOUD_CREDENTIALS_INVALID", want: ["False", "InvalidCredentials", OPERATOR] },
      { reason: "SCOPE_MISMATCH", want: ["False", "ProviderScopeChanged", OPERATOR] },
      { reason: "RATE_LIMITED", want: ["False", "Throttled", "retrying when the provider allows it"] },
      {
        reason: "ANNOTATION_INVALID",
        want: ["False", "Rejected", "retrying when the Service or the provider changes, or in 30 minutes"],
      },
      { reason: "CLOUD_UNAVAILABLE", want: ["Unknown", "CloudUnavailable", TRANSIENT] },
      { reason: "DEADLINE_PASSED", want: ["Unknown", "OutcomeUnknown", UNKNOWN] },
      { reason: "NODE_SET_UNKNOWN", want: ["Unknown", "OutcomeUnknown", UNKNOWN] },
    ] as const)("makes $want.1 of $reason", ({ reason, want: [status, word, nextTry] }) => {
      const error = new LoadBalancerSyncError("failed to ensure: why", { cause: contractError(reason, "why") });
      expect(readinessOfFailure(error)).toEqual({
        status,
        reason: word,
        message: `failed to ensure: why ${hint(word, nextTry)}`,
      });
    });

    test.each([
      { code: "ALREADY_EXISTS" as const, want: "Conflict" },
      { code: "PERMISSION_DENIED" as const, want: "PermissionDenied" },
    ])("goes by code $code for a reason of the vendor's own", ({ code, want }) => {
      const error = new ProviderError({ code, reason: "OWN", domain: "acme.example.com", message: "m" });
      expect(readinessOfFailure(error)?.reason).toBe(want);
    });

    test("takes the word of an error that has one, and when it is tried again", () => {
      const cause = new LoadBalancerSyncError("no SCTP", { reason: "Rejected", nextTry: "never" });
      expect(readinessOfFailure(new TerminalError("no SCTP", { cause }))).toEqual({
        status: "False",
        reason: "Rejected",
        message: `no SCTP ${hint("Rejected", "never")}`,
      });
    });

    test("reports SyncFailed for an unexpected error", () => {
      expect(readinessOfFailure(new Error("oh"))).toEqual({
        status: "Unknown",
        reason: "SyncFailed",
        message: `oh ${hint("SyncFailed", TRANSIENT)}`,
      });
    });

    test("cuts what is too long and keeps when it is tried again", () => {
      const message = readinessOfFailure(new Error("x".repeat(5000)))?.message ?? "";
      expect(message).toHaveLength(1024);
      expect(message.endsWith(`x… ${hint("SyncFailed", TRANSIENT)}`)).toBe(true);
    });

    test("is nothing for a server that took no write", () => {
      const cause = new ApiError({
        code: "forbidden",
        message: "no",
        httpStatus: 403,
        reason: "",
        retryAfterMs: undefined,
      });
      expect(readinessOfFailure(new LoadBalancerSyncError("failed to patch", { cause }))).toBeUndefined();
    });
  });

  describe("failureText()", () => {
    test("says what the condition says, for kubectl describe shows no conditions", () => {
      const error = new LoadBalancerSyncError("failed", { cause: contractError("QUOTA_EXCEEDED", "why") });
      expect(failureText(error)).toBe(readinessOfFailure(error)?.message);
    });

    test("leaves room for the words before it", () => {
      expect(failureText(new Error("x".repeat(5000)))).toHaveLength(940);
    });

    test("says of a server that took no write what to look at", () => {
      const parts = { httpStatus: 403, reason: "", retryAfterMs: undefined } as const;
      const cause = new ApiError({ code: "forbidden", message: "no", ...parts });
      expect(failureText(new LoadBalancerSyncError("failed to patch", { cause }))).toBe(
        `failed to patch (${TRANSIENT}). To fix: check that the API server is healthy and grants the controller its permissions`,
      );
    });

    test("has an event text for the load balancer of a previous provider, which has no condition", () => {
      const cause = contractError("DELETION_PROTECTED", "why");
      const error = new LoadBalancerSyncError("failed", { cause, isReported: true, isAside: true });
      expect([readinessOfFailure(error), failureText(error)]).toEqual([
        undefined,
        `failed ${hint("DeletionProtected", OPERATOR)}`,
      ]);
    });
  });
});

test.each([
  ["ADDRESS_IN_USE", contractError("ADDRESS_IN_USE", "used"), "resource"],
  ["QUOTA_EXCEEDED in an ensure", inEnsure(contractError("QUOTA_EXCEEDED", "full")), "resource"],
  ["CLOUD_UNAVAILABLE", contractError("CLOUD_UNAVAILABLE", "503"), "cloud"],
  ["a lost connection", lost, "cloud"],
  ["NOT_READY, which is about one load balancer", contractError("NOT_READY", "not yet"), undefined],
  ["a permission", contractError("CLOUD_PERMISSION_DENIED", "no"), undefined],
  ["our own rate limit", contractError("RATE_LIMITED", "wait", { isClientThrottled: true }), undefined],
  ["an internal error", new TypeError("x"), undefined],
])("waitsFor() of %s", (_what, error, expected) => {
  expect(waitsFor(error)).toBe(expected);
});
