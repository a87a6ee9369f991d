import { describe, expect, test } from "vitest";
import { mirrorBetaLabels, planLabels } from "./labels.ts";

const NO_FACTS = { instanceType: undefined, zone: undefined, region: undefined, labels: {} };

describe("planLabels()", () => {
  test("writes old and new name of type, zone and region", () => {
    expect(planLabels({}, { ...NO_FACTS, instanceType: "m5.large", zone: "eu-1a", region: "eu-1" })).toEqual({
      kind: "labels",
      changes: {
        "beta.kubernetes.io/instance-type": "m5.large",
        "node.kubernetes.io/instance-type": "m5.large",
        "failure-domain.beta.kubernetes.io/zone": "eu-1a",
        "topology.kubernetes.io/zone": "eu-1a",
        "failure-domain.beta.kubernetes.io/region": "eu-1",
        "topology.kubernetes.io/region": "eu-1",
      },
      dropped: [],
    });
  });

  test("overwrites a different value and leaves an equal one out of the patch", () => {
    const current = { "topology.kubernetes.io/zone": "wrong", "failure-domain.beta.kubernetes.io/zone": "eu-1a" };
    expect(planLabels(current, { ...NO_FACTS, zone: "eu-1a" })).toEqual({
      kind: "labels",
      changes: { "topology.kubernetes.io/zone": "eu-1a" },
      dropped: [],
    });
  });

  test.each([
    { it: "absent", zone: undefined },
    { it: "empty", zone: "" },
  ])("leaves a label alone whose fact is $it", ({ zone }) => {
    const current = { "topology.kubernetes.io/zone": "kept" };
    expect(planLabels(current, { ...NO_FACTS, zone })).toEqual({ kind: "labels", changes: {}, dropped: [] });
  });

  test.each(["foo", "n.example.com/y", "app.k8snio/x", "k8s.example/x", "mykubernetes.io/x"])("adds %s", (key) => {
    expect(planLabels({}, { ...NO_FACTS, labels: { [key]: "v" } })).toEqual({
      kind: "labels",
      changes: { [key]: "v" },
      dropped: [],
    });
  });

  test.each([
    { why: "reserved", key: "kubernetes.io/x", value: "v" },
    { why: "reserved", key: "a.k8s.io/x", value: "v" },
    { why: "reserved", key: "topology.kubernetes.io/region", value: "v" },
    { why: "taken", key: "foo", value: "cloud" },
    { why: "invalid", key: "no spaces", value: "v" },
    { why: "invalid", key: "UPPER.example/x", value: "v" },
    { why: "invalid", key: "example.com/", value: "v" },
    { why: "invalid", key: "bar", value: "no spaces" },
    { why: "invalid", key: "bar", value: "a".repeat(64) },
  ])("drops $key=$value as $why", ({ why, key, value }) => {
    expect(planLabels({ foo: "user" }, { ...NO_FACTS, labels: { [key]: value } })).toEqual({
      kind: "labels",
      changes: {},
      dropped: [{ key, value, why }],
    });
  });

  test("says nothing about a further label that is there with the same value", () => {
    expect(planLabels({ foo: "v" }, { ...NO_FACTS, labels: { foo: "v" } })).toEqual({
      kind: "labels",
      changes: {},
      dropped: [],
    });
  });

  test("adds a further label with empty value", () => {
    expect(planLabels({}, { ...NO_FACTS, labels: { foo: "" } })).toEqual({
      kind: "labels",
      changes: { foo: "" },
      dropped: [],
    });
  });

  test.each([
    {
      it: "instance type",
      facts: { instanceType: "m5 large" },
      message: 'the cloud\'s instance type "m5 large" cannot be a label value',
    },
    { it: "zone", facts: { zone: "-a" }, message: 'the cloud\'s zone "-a" cannot be a label value' },
    { it: "region", facts: { region: "ö" }, message: 'the cloud\'s region "ö" cannot be a label value' },
  ])("refuses a(n) $it that the server would refuse", ({ facts, message }) => {
    expect(planLabels({}, { ...NO_FACTS, ...facts })).toEqual({ kind: "invalid", message });
  });
});

describe("mirrorBetaLabels()", () => {
  test.each([
    { it: "nothing on a node without labels", labels: {}, want: {} },
    { it: "nothing when only the new name is there", labels: { "topology.kubernetes.io/zone": "a" }, want: {} },
    {
      it: "nothing when both agree",
      labels: { "topology.kubernetes.io/zone": "a", "failure-domain.beta.kubernetes.io/zone": "a" },
      want: {},
    },
    {
      it: "the new name that is missing",
      labels: { "failure-domain.beta.kubernetes.io/region": "r" },
      want: { "topology.kubernetes.io/region": "r" },
    },
    {
      it: "the new name that somebody edited",
      labels: { "beta.kubernetes.io/instance-type": "m5", "node.kubernetes.io/instance-type": "edited" },
      want: { "node.kubernetes.io/instance-type": "m5" },
    },
    {
      it: "an empty beta value too",
      labels: { "failure-domain.beta.kubernetes.io/zone": "", "topology.kubernetes.io/zone": "a" },
      want: { "topology.kubernetes.io/zone": "" },
    },
  ])("sets $it", ({ labels, want }) => {
    expect(mirrorBetaLabels(labels)).toEqual(want);
  });
});
