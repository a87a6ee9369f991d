import { describe, expect, test } from "vitest";
import {
  edited,
  fresh,
  held,
  known,
  making,
  present,
  wanted,
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import { service } from "../../../../test/support/builders.ts";
import { plan } from "./plan.ts";

const previous = { provider: "old", loadBalancerID: "lb-old" };
const { ingress = [] } = known;
const serving = { ...held, status: { ...held.status, loadBalancer: { ingress } } };
const guarded = service("web", {
  metadata: {
    finalizers: held.metadata.finalizers,
    annotations: { "service.cloudwire.dev/deletion-protection": "true" },
  },
});

describe("plan() of a Service that another provider served before", () => {
  test("takes down what that one made once the new one stands, is written down and published", () => {
    const input = wanted({ service: serving, present: known, previous });
    expect(plan(input)).toEqual({ kind: "deletePrevious", service: serving, previous });
  });

  test.each([
    { it: "there is none yet", input: wanted({ previous }), want: "change" },
    { it: "it is being made", input: wanted({ present: making, previous }), want: "wait" },
    {
      it: "it has just become ready",
      input: wanted({ present: making, observed: present(), previous }),
      want: "settle",
    },
    { it: "it was only read", input: wanted({ observed: present(), previous }), want: "settle" },
    { it: "its address is not published", input: wanted({ present: known, previous }), want: "settle" },
    {
      it: "its finalizer is not there",
      input: wanted({ service: { ...serving, metadata: fresh.metadata }, present: known, previous }),
      want: "settle",
    },
    {
      it: "a sweep's suspicion was looked into",
      input: wanted({
        service: serving,
        present: known,
        observed: present(),
        suspicion: { missing: "repair", changed: "repair" },
        previous,
      }),
      want: "settle",
    },
    { it: "its spec has changed", input: wanted({ present: known, service: edited, previous }), want: "change" },
    {
      it: "its nodes are others",
      input: wanted({ present: known, desired: desired("spec-1", "n"), previous }),
      want: "change",
    },
    {
      it: "its spec is rejected",
      input: wanted({
        present: known,
        previous,
        refusal: { message: "no", retryAfterMs: undefined, nextTry: "later" },
      }),
      want: "refuse",
    },
    {
      it: "the Service is protected",
      input: wanted({ service: guarded, present: { ...known, service: guarded }, previous }),
      want: "settle",
    },
  ])("leaves that alone while $it", ({ input, want }) => {
    expect(plan(input).kind).toBe(want);
  });
});
