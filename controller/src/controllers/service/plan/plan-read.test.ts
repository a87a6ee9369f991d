import { describe, expect, test } from "vitest";
import {
  absent,
  edited,
  known,
  making,
  operation,
  present,
  wanted,
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import type { EnsureInput } from "./types.ts";
import { plan } from "./plan.ts";

const seen = { ...known, baseline: { kind: "verified", fingerprint: "seen-1" } } as const;
const changed = present({ observedFingerprint: "seen-2" });
const repair = { missing: "repair", changed: "repair" } as const;
const suspected = (parts: Partial<EnsureInput> = {}): EnsureInput =>
  wanted({ present: seen, observed: changed, suspicion: repair, ...parts });
const drift = { kind: "changed", what: "load balancer lb-1 was changed in the cloud" } as const;

describe("plan() of a load balancer that a sweep suspects", () => {
  test("ensures what was changed by others, and need not send the nodes", () => {
    expect(plan(suspected())).toMatchObject({
      kind: "change",
      purpose: "ensure",
      call: "ensure",
      trigger: "drift: changed",
      drift,
      loadBalancerId: "lb-1",
      acknowledgedNodes: "nodes-1",
    });
  });

  test("ensures what is gone, and sends the nodes", () => {
    expect(plan(suspected({ observed: absent }))).toMatchObject({
      kind: "change",
      trigger: "drift: missing",
      drift: { kind: "missing" },
      acknowledgedNodes: undefined,
    });
  });

  test.each([
    { it: "finds it as acknowledged", parts: { observed: present({ observedFingerprint: "seen-1" }) } },
    { it: "finds a change under way", parts: { observed: present({ phase: "updating", operation }) } },
  ])("leaves it alone when it $it", ({ parts }) => {
    expect(plan(suspected(parts))).toMatchObject({ kind: "settle", present: seen, inspection: { kind: "steady" } });
  });

  test.each(["later", "suspended"] as const)("leaves it as it is when it is to be repaired $0", (decision) => {
    expect(plan(suspected({ suspicion: { missing: "repair", changed: decision } }))).toMatchObject({
      kind: "settle",
      present: seen,
      inspection: { kind: "left", drift, decision },
    });
  });

  test("does not change it when its spec is not known", () => {
    expect(plan(suspected({ desired: { ...desired(), spec: undefined } }))).toMatchObject({
      kind: "settle",
      inspection: { kind: "left", drift, decision: "later" },
    });
  });

  test("applies another spec first", () => {
    const said = { kind: "change", drift: undefined };
    expect(plan(suspected({ service: edited }))).toMatchObject({ ...said, trigger: "service changed" });
    expect(plan(suspected({ desired: desired("spec-1", "nodes-2") }))).toMatchObject({
      ...said,
      trigger: "nodes changed",
    });
    expect(plan(suspected({ present: making, observed: present({ specFingerprint: "spec-0" }) }))).toMatchObject({
      ...said,
      trigger: "another spec is in force",
    });
  });

  test("takes no interest in what was not suspected", () => {
    expect(plan(wanted({ present: seen, observed: changed }))).toMatchObject({ kind: "settle", inspection: undefined });
  });

  test("says nothing before the cloud was read", () => {
    expect(plan(suspected({ observed: undefined }))).toMatchObject({ kind: "settle", inspection: undefined });
  });
});

describe("plan() of a load balancer of which a request got no answer", () => {
  const unanswered = (parts: Partial<EnsureInput> = {}): EnsureInput =>
    wanted({ present: seen, isUnanswered: true, observed: present({ observedFingerprint: "seen-1" }), ...parts });

  test("believes what was acknowledged when a read shows the same", () => {
    expect(plan(unanswered())).toMatchObject({
      kind: "settle",
      present: seen,
      finished: undefined,
      inspection: undefined,
    });
  });

  test.each([
    { it: "it is gone", observed: absent },
    { it: "what was requested is in force", observed: present({ specFingerprint: "spec-2" }) },
    { it: "it was changed", observed: changed },
    { it: "it is being changed", observed: present({ phase: "updating", operation }) },
    { it: "a change of it goes on", observed: present({ observedFingerprint: "seen-1", operation }) },
    { it: "it was not read", observed: undefined },
  ])("ensures it when $it", ({ observed }) => {
    expect(plan(unanswered({ observed }))).toMatchObject({
      kind: "change",
      purpose: "ensure",
      trigger: "not known to match the spec",
      drift: undefined,
      loadBalancerId: "lb-1",
    });
  });

  test("updates its nodes when its spec is not known", () => {
    const withoutSpec = { ...desired(), spec: undefined };
    expect(plan(unanswered({ desired: withoutSpec, observed: changed }))).toMatchObject({ purpose: "update" });
  });

  test("says that a change by others is one, and that there is none", () => {
    expect(plan(unanswered({ suspicion: repair, observed: changed }))).toMatchObject({ trigger: "drift: changed" });
    expect(plan(unanswered({ suspicion: repair }))).toMatchObject({ kind: "settle", inspection: { kind: "steady" } });
  });
});
