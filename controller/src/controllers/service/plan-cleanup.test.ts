import { describe, expect, test } from "vitest";
import { FINALIZER, held, known, uid } from "../../../test/support/service-plan-builders.ts";
import { plan } from "./plan.ts";

describe("plan() of a clean-up", () => {
  const cleanup = {
    kind: "cleanup",
    service: held,
    isGone: false,
    provider: "acme",
    entry: undefined,
    deletion: undefined,
  } as const;

  test.each([
    {
      it: "deletes what it knows nothing of",
      input: cleanup,
      want: { loadBalancerId: undefined, operationId: undefined, announce: true },
    },
    {
      it: "names the load balancer it knows",
      input: { ...cleanup, entry: known },
      want: { loadBalancerId: "lb-1", operationId: undefined, announce: true },
    },
    {
      it: "asks again after a deletion under way, without a word",
      input: { ...cleanup, entry: known, deletion: { service: held, provider: "acme", operationId: "op-9" } },
      want: { loadBalancerId: "lb-1", operationId: "op-9", announce: false },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual({
      kind: "delete",
      service: held,
      isGone: false,
      provider: "acme",
      patch: { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] } },
      ...want,
    });
  });

  test("patches nothing of a Service that is gone", () => {
    expect(plan({ ...cleanup, isGone: true, entry: known })).toMatchObject({
      kind: "delete",
      isGone: true,
      patch: undefined,
    });
  });
});
