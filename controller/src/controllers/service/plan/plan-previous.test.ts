import { describe, expect, test } from "vitest";
import {
  edited,
  fresh,
  held,
  known,
  making,
  present,
  wanted,
  wish,
} from "../../../../test/support/service-plan-builders.ts";
import { service } from "../../../../test/support/builders.ts";
import { plan } from "./plan.ts";

const former = { provider: "old", loadBalancerId: "lb-old" };
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
    const input = wanted({ service: serving, entry: known, former });
    expect(plan(input)).toEqual({ kind: "retire", service: serving, former });
  });

  test.each([
    { it: "there is none yet", input: wanted({ former }), want: "change" },
    { it: "it is being made", input: wanted({ entry: making, former }), want: "wait" },
    { it: "it has just become ready", input: wanted({ entry: making, observed: present(), former }), want: "settle" },
    { it: "it was only read", input: wanted({ observed: present(), former }), want: "settle" },
    { it: "its address is not published", input: wanted({ entry: known, former }), want: "settle" },
    {
      it: "its finalizer is not there",
      input: wanted({ service: { ...serving, metadata: fresh.metadata }, entry: known, former }),
      want: "settle",
    },
    {
      it: "a sweep's suspicion was looked into",
      input: wanted({
        service: serving,
        entry: known,
        observed: present(),
        suspicion: { vanished: "repair", changed: "repair" },
        former,
      }),
      want: "settle",
    },
    { it: "its wish is another", input: wanted({ entry: known, service: edited, former }), want: "change" },
    { it: "its nodes are others", input: wanted({ entry: known, wish: wish("spec-1", "n"), former }), want: "change" },
    {
      it: "its wish is refused",
      input: wanted({ entry: known, former, refusal: { message: "no", retryAfterMs: undefined, nextTry: "later" } }),
      want: "refuse",
    },
    {
      it: "the Service is protected",
      input: wanted({ service: guarded, entry: { ...known, service: guarded }, former }),
      want: "settle",
    },
  ])("leaves that alone while $it", ({ input, want }) => {
    expect(plan(input).kind).toBe(want);
  });
});
