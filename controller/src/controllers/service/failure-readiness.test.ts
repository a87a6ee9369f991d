import { describe, expect, test } from "vitest";
import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import { ApiError } from "../../kube/errors.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";
import { TerminalError } from "../../util/errors.ts";
import { LoadBalancerSyncError } from "./errors.ts";
import { failureText, readinessOfFailure } from "./failure-readiness.ts";

const TRANSIENT = "tried again after 5 seconds to 5 minutes";
const OPERATOR = "tried again after 1 to 5 minutes, and when the Service changes";
const UNKNOWN = "asked again after 1 second to 5 minutes";

/** What stands behind a failure: when it is tried again, and what to do where something can be done. */
function hint(reason: LoadBalancerReadyReason, nextTry: string): string {
  const remedy = LOAD_BALANCER_REMEDIES[reason];
  return remedy === undefined ? `(${nextTry})` : `(${nextTry}; to do: ${remedy})`;
}

describe("readinessOfFailure()", () => {
  test.each([
    { reason: "QUOTA_EXCEEDED", want: ["False", "QuotaExceeded", "tried again after 1 to 15 minutes"] },
    { reason: "ADDRESS_IN_USE", want: ["False", "Conflict", OPERATOR] },
    { reason: "NAME_TAKEN", want: ["False", "Conflict", OPERATOR] },
    { reason: "OWNED_BY_ANOTHER_CLUSTER", want: ["False", "Conflict", OPERATOR] },
    { reason: "DELETION_PROTECTED", want: ["False", "DeletionProtected", OPERATOR] },
    { reason: "DEPENDENCY_IN_USE", want: ["False", "CloudBusy", TRANSIENT] },
    { reason: "NOT_READY", want: ["False", "CloudBusy", TRANSIENT] },
    { reason: "OPERATION_IN_PROGRESS", want: ["False", "CloudBusy", TRANSIENT] },
    { reason: "STALE_GENERATION", want: ["False", "CloudBusy", UNKNOWN] },
    { reason: "CLOUD_PERMISSION_DENIED", want: ["False", "ProviderNotAuthorized", OPERATOR] },
    { reason: "CLOUD_CREDENTIALS_INVALID", want: ["False", "ProviderNotAuthorized", OPERATOR] },
    { reason: "SCOPE_MISMATCH", want: ["False", "ProviderNotAuthorized", OPERATOR] },
    { reason: "RATE_LIMITED", want: ["False", "Throttled", "tried again when the provider allows it"] },
    {
      reason: "ANNOTATION_INVALID",
      want: ["False", "Refused", "tried again when the Service or the provider changes, or after 30 minutes"],
    },
    { reason: "CLOUD_UNAVAILABLE", want: ["Unknown", "ProviderUnavailable", TRANSIENT] },
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
    { code: "PERMISSION_DENIED" as const, want: "ProviderNotAuthorized" },
  ])("goes by code $code for a reason of the vendor's own", ({ code, want }) => {
    const error = new ProviderError({ code, reason: "OWN", domain: "acme.example.com", message: "m" });
    expect(readinessOfFailure(error)?.reason).toBe(want);
  });

  test("takes the word of an error that has one, and when it is tried again", () => {
    const cause = new LoadBalancerSyncError("no SCTP", { reason: "Refused", nextTry: "never" });
    expect(readinessOfFailure(new TerminalError("no SCTP", { cause }))).toEqual({
      status: "False",
      reason: "Refused",
      message: `no SCTP ${hint("Refused", "never")}`,
    });
  });

  test("makes SyncFailed of what nobody foresaw", () => {
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
      `failed to patch (${TRANSIENT}; to do: see that the API server is well and grants the controller its rights)`,
    );
  });

  test("speaks of a former provider's load balancer, too, which no condition tells of", () => {
    const cause = contractError("DELETION_PROTECTED", "why");
    const error = new LoadBalancerSyncError("failed", { cause, isTold: true, isAside: true });
    expect([readinessOfFailure(error), failureText(error)]).toEqual([
      undefined,
      `failed ${hint("DeletionProtected", OPERATOR)}`,
    ]);
  });
});
