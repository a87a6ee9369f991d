import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { absent, facts, lost, NOW, present, twice } from "../../../test/support/lifecycle-builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { NodeRecord } from "./node-history.ts";
import { type Answered, fold } from "./plan.ts";
import { identityOf } from "./predicates.ts";

describe("fold()", () => {
  const gone = lost();
  const known = (parts: Partial<NodeRecord> = {}): NodeRecord => ({
    identity: identityOf(gone),
    provider: "acme",
    absences: twice,
    isGone: true,
    observedState: "",
    unchangedLookups: 3,
    reported: {},
    ...parts,
  });
  const answered = (result: InstanceResult, parts: Partial<Answered> = {}): Answered => ({
    kind: "answered",
    node: gone,
    result,
    makesUntrusted: false,
    reportsShutdown: true,
    before: undefined,
    facts: facts({ absences: undefined }),
    isCounted: false,
    nowMs: NOW,
    monotonicMs: 40_000,
    ...parts,
  });

  test("of a Node that vanished leaves nothing to decide", () => {
    expect(fold({ kind: "vanished" })).toEqual({ news: { record: { kind: "vanished" } }, input: undefined });
  });

  test.each([
    { it: "whose machine was called absent contradicts the provider", before: known(), contradicted: "acme" },
    { it: "of which nothing is known contradicts no one", before: undefined, contradicted: undefined },
  ])("of a Ready Node $it", ({ before, contradicted }) => {
    const ready = node("a");
    expect(fold({ kind: "ready", node: ready, before })).toEqual({
      news: { record: { kind: "forgotten" }, contradicted },
      input: { node: ready, lookup: undefined, tooNewForMs: 0 },
    });
  });

  test("of a young Node keeps what is known", () => {
    const { news, input } = fold({ kind: "tooNew", node: gone, tooNewForMs: 7 });
    expect([news, input?.tooNewForMs]).toEqual([{ record: { kind: "kept" } }, 7]);
  });

  test.each([
    { it: "an absence counts the Node", result: absent(), parts: {}, gone: 2 },
    {
      it: "an absence of a Node that counts already counts it once",
      result: absent(),
      parts: { isCounted: true },
      gone: 1,
    },
    {
      it: "a machine that is there takes the Node off",
      result: present("running"),
      parts: { isCounted: true },
      gone: 0,
    },
  ])("of $it for the circuit breaker", ({ result, parts, gone: expected }) => {
    expect(fold(answered(result, parts)).input?.lookup?.facts?.circuitBreaker.gone).toBe(expected);
  });

  test("of a machine that is there after all counts against its provider from this moment on", () => {
    const { news, input } = fold(answered(present("running"), { before: known() }));
    expect(news).toMatchObject({ contradicted: "acme", record: { kind: "put", record: { absences: undefined } } });
    expect(input?.lookup?.facts?.provider).toMatchObject({ failedAtMs: 40_000, contradictedAtMs: 40_000 });
  });

  test("of an result that makes its provider untrusted is a failure of the provider that owns the Node, if one does", () => {
    const failed: InstanceResult = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "gone") };
    const { news, input } = fold(answered(failed, { makesUntrusted: true }));
    expect([news.failed, input?.lookup?.facts?.provider.failedAtMs]).toEqual(["acme", 40_000]);
    expect(fold(answered(failed, { makesUntrusted: true, facts: undefined })).news.failed).toBeUndefined();
  });

  test("counts looks that show the same", () => {
    const first = fold(answered(absent()));
    const { record } = first.news;
    const before = record.kind === "put" ? record.record : undefined;
    const again = fold(answered(absent(), { before }));
    expect([before?.unchangedLookups, again.news.record]).toMatchObject([
      1,
      { kind: "put", record: { unchangedLookups: 2 } },
    ]);
  });
});
