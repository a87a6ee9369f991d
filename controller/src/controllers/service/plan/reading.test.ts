import { describe, expect, test } from "vitest";
import {
  absent,
  edited,
  fresh,
  held,
  known,
  making,
  operation,
  present,
  updating,
  wanted,
  wish,
} from "../../../../test/support/service-plan-builders.ts";
import { isReadNeeded, inForceInCloud } from "./standing.ts";

const suspicion = { vanished: "repair", changed: "repair" } as const;

describe("isReadNeeded()", () => {
  test.each([
    { it: "a new Service", input: { service: fresh, wish: wish(), present: undefined }, want: false },
    { it: "a Service of an earlier process", input: { service: held, wish: wish(), present: undefined }, want: true },
    {
      it: "a Service whose load balancer this process has asked for",
      input: { service: held, wish: wish(), present: undefined, isUnanswered: true },
      want: false,
    },
    {
      it: "such a Service, once its wish is refused and what stands must be known",
      input: {
        service: held,
        wish: wish(),
        present: undefined,
        isUnanswered: true,
        refusal: { message: "no", retryAfterMs: undefined, nextTry: "later" },
      },
      want: true,
    },
    { it: "a settled Service", input: { service: held, wish: wish(), present: known }, want: false },
    {
      it: "a settled Service in which a sweep takes an interest",
      input: { service: held, wish: wish(), present: known, suspicion },
      want: true,
    },
    {
      it: "such a Service that was edited meanwhile",
      input: { service: edited, wish: wish(), present: known, suspicion },
      want: false,
    },
    {
      it: "such a Service that has other nodes meanwhile",
      input: { service: held, wish: wish("spec-1", "nodes-2"), present: known, suspicion },
      want: false,
    },
    { it: "work under way", input: { service: held, wish: wish(), present: making }, want: true },
    {
      it: "work under way for an earlier Service",
      input: { service: edited, wish: wish(), present: making },
      want: false,
    },
    {
      it: "work under way for another wish",
      input: { service: held, wish: wish("spec-2"), present: making },
      want: false,
    },
    {
      it: "work under way for other nodes",
      input: { service: held, wish: wish("spec-1", "nodes-2"), present: updating },
      want: false,
    },
  ])("is $want for $it", ({ input, want }) => {
    expect(isReadNeeded({ isUnanswered: false, refusal: undefined, suspicion: undefined, ...input })).toBe(want);
  });
});

describe("inForceInCloud()", () => {
  test.each([
    { it: "by this wish", observed: present(), want: known },
    {
      it: "by another wish",
      observed: present({ specFingerprint: "spec-0" }),
      want: { ...known, spec: undefined, specFingerprint: "spec-0" },
    },
    { it: "but work goes on", observed: present({ operation }), want: undefined },
    { it: "but is being made", observed: present({ phase: "provisioning" }), want: undefined },
    { it: "not at all", observed: absent, want: undefined },
    { it: "for all that was read", observed: undefined, want: undefined },
  ])("knows what stands $it", ({ observed, want }) => {
    expect(inForceInCloud(wanted({ observed }))).toEqual(want);
  });
});
