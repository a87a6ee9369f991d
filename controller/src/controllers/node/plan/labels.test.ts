import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  FIELD_RULES,
  type FieldPolicy,
  type LabelFacts,
  type Labeled,
  labelPolicies,
  mirrorBetaLabels,
  planInitialLabels,
  planLabels,
} from "./labels.ts";

const NO_FACTS: LabelFacts = { instanceType: undefined, zone: undefined, region: undefined, labels: {} };
const NOTHING = { changes: {}, record: undefined, dropped: [], differences: [] };
const RECORD = "cloudwire.dev/cloud-labels";
const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";

function labeled(labels: Readonly<Record<string, string>>, record?: string): Labeled {
  return { name: "n", labels, annotations: record === undefined ? {} : { [RECORD]: record } };
}

const ALL_FACTS: LabelFacts = { instanceType: "m5.large", zone: "eu-1a", region: "eu-1", labels: {} };
const ALL_LABELS = {
  "beta.kubernetes.io/instance-type": "m5.large",
  "node.kubernetes.io/instance-type": "m5.large",
  "failure-domain.beta.kubernetes.io/zone": "eu-1a",
  "topology.kubernetes.io/zone": "eu-1a",
  "failure-domain.beta.kubernetes.io/region": "eu-1",
  "topology.kubernetes.io/region": "eu-1",
};

describe("planInitialLabels()", () => {
  test("writes old and new name of type, zone and region", () => {
    expect(planInitialLabels(labeled({}), ALL_FACTS)).toEqual({ ...NOTHING, changes: ALL_LABELS });
  });

  test("overwrites a different value and leaves an equal one out of the patch", () => {
    const current = labeled({ [ZONE]: "wrong", [BETA_ZONE]: "eu-1a" });
    expect(planInitialLabels(current, { ...NO_FACTS, zone: "eu-1a" })).toEqual({
      ...NOTHING,
      changes: { [ZONE]: "eu-1a" },
    });
  });

  test.each([
    { it: "absent", zone: undefined },
    { it: "empty", zone: "" },
  ])("leaves a label alone whose fact is $it", ({ zone }) => {
    expect(planInitialLabels(labeled({ [ZONE]: "kept" }), { ...NO_FACTS, zone })).toEqual(NOTHING);
  });

  test("sets further labels beside the others", () => {
    expect(planInitialLabels(labeled({}), { ...NO_FACTS, zone: "a", labels: { rack: "r1" } })).toEqual({
      ...NOTHING,
      changes: { [BETA_ZONE]: "a", [ZONE]: "a", rack: "r1" },
      record: "rack",
    });
  });

  test.each([
    {
      it: "instance type",
      instance: { instanceType: "m5 large" },
      message: 'the cloud\'s instance type "m5 large" is not a valid label value',
    },
    { it: "zone", instance: { zone: "-a" }, message: 'the cloud\'s zone "-a" is not a valid label value' },
    { it: "region", instance: { region: "ö" }, message: 'the cloud\'s region "ö" is not a valid label value' },
  ])("refuses a(n) $it that the server would refuse", ({ instance, message }) => {
    expect(planInitialLabels(labeled({}), { ...NO_FACTS, ...instance })).toBe(message);
  });
});

describe("planLabels() of type, zone and region", () => {
  const differs = (shown: string) => [
    {
      field: "zone",
      message: `the cloud reports zone b, but label ${ZONE} is ${shown} and is not changed; to accept the change: kubectl label node n ${ZONE}=b --overwrite`,
    },
  ];

  test.each<{
    readonly it: string;
    readonly policy: FieldPolicy;
    readonly has: Readonly<Record<string, string>>;
    readonly changes?: Readonly<Record<string, string>>;
    readonly shown?: string;
  }>([
    { it: "writes what is missing", policy: "warn", has: {}, changes: { [ZONE]: "b", [BETA_ZONE]: "b" } },
    { it: "writes what is missing", policy: "ignore", has: {}, changes: { [ZONE]: "b", [BETA_ZONE]: "b" } },
    { it: "writes what is missing", policy: "follow", has: {}, changes: { [ZONE]: "b", [BETA_ZONE]: "b" } },
    {
      it: "leaves another value and reports it",
      policy: "warn",
      has: { [ZONE]: "a", [BETA_ZONE]: "a" },
      shown: "a",
    },
    { it: "leaves another value in silence", policy: "ignore", has: { [ZONE]: "a", [BETA_ZONE]: "a" } },
    {
      it: "replaces another value",
      policy: "follow",
      has: { [ZONE]: "a", [BETA_ZONE]: "a" },
      changes: { [ZONE]: "b", [BETA_ZONE]: "b" },
    },
    { it: "leaves equal values", policy: "follow", has: { [ZONE]: "b", [BETA_ZONE]: "b" } },
    { it: "leaves equal values", policy: "warn", has: { [ZONE]: "b", [BETA_ZONE]: "b" } },
    {
      it: "takes an edit of the new name for acceptance",
      policy: "warn",
      has: { [ZONE]: "b", [BETA_ZONE]: "a" },
      changes: { [BETA_ZONE]: "b" },
    },
    {
      it: "takes an edit of the old name for acceptance",
      policy: "ignore",
      has: { [ZONE]: "a", [BETA_ZONE]: "b" },
      changes: { [ZONE]: "b" },
    },
    {
      it: "takes an edit of the old name for acceptance",
      policy: "warn",
      has: { [ZONE]: "a", [BETA_ZONE]: "b" },
      changes: { [ZONE]: "b" },
    },
    {
      it: "adds the old name to a new one that agrees",
      policy: "warn",
      has: { [ZONE]: "b" },
      changes: { [BETA_ZONE]: "b" },
    },
    {
      it: "lets the old name decide between two that disagree with the cloud",
      policy: "warn",
      has: { [ZONE]: "x", [BETA_ZONE]: "a" },
      changes: { [ZONE]: "a" },
      shown: "a",
    },
    {
      it: "lets the old name decide in silence, too",
      policy: "ignore",
      has: { [ZONE]: "x", [BETA_ZONE]: "a" },
      changes: { [ZONE]: "a" },
    },
    { it: "reports the new name when it is alone", policy: "warn", has: { [ZONE]: "a" }, shown: "a" },
  ])("$it under $policy", ({ policy, has, changes = {}, shown }) => {
    expect(planLabels(labeled(has), { ...NO_FACTS, zone: "b" }, labelPolicies(policy))).toEqual({
      ...NOTHING,
      changes,
      differences: shown === undefined ? [] : differs(shown),
    });
  });

  test("gives zone and region the policy asked for, the instance type its own", () => {
    const other = Object.fromEntries(Object.keys(ALL_LABELS).map((key) => [key, "other"]));
    const planned = planLabels(labeled(other), ALL_FACTS, labelPolicies("warn"));
    expect(planned.changes).toEqual({
      "beta.kubernetes.io/instance-type": "m5.large",
      "node.kubernetes.io/instance-type": "m5.large",
    });
    expect(planned.differences.map(({ field }) => field)).toEqual(["zone", "region"]);
    expect(planLabels(labeled(other), ALL_FACTS, labelPolicies("follow")).changes).toEqual(ALL_LABELS);
  });

  test("keeps names that say the same when the cloud says nothing", () => {
    const has = { [ZONE]: "x", [BETA_ZONE]: "a" };
    expect(planLabels(labeled(has), NO_FACTS, labelPolicies("follow"))).toEqual({
      ...NOTHING,
      changes: { [ZONE]: "a" },
    });
  });

  test("reports a value that the server would refuse, and goes on", () => {
    const has = { [ZONE]: "x", [BETA_ZONE]: "a" };
    expect(planLabels(labeled(has), { ...NO_FACTS, zone: "a b" }, labelPolicies("follow"))).toEqual({
      ...NOTHING,
      changes: { [ZONE]: "a" },
      differences: [{ field: "zone", message: 'the cloud\'s zone "a b" is not a valid label value' }],
    });
  });
});

describe("planLabels() of further labels", () => {
  const further = (node: Labeled, labels: Readonly<Record<string, string>>) =>
    planLabels(node, { ...NO_FACTS, labels }, labelPolicies("warn"));

  test.each(["foo", "n.example.com/y", "app.k8snio/x", "k8s.example/x", "mykubernetes.io/x", "a.kubernetesaio/x"])(
    "sets %s",
    (key) => {
      expect(further(labeled({}), { [key]: "v" })).toEqual({ ...NOTHING, changes: { [key]: "v" }, record: key });
    },
  );

  test("sets one with empty value", () => {
    expect(further(labeled({}), { foo: "" })).toEqual({ ...NOTHING, changes: { foo: "" }, record: "foo" });
  });

  test.each([
    { reason: "reserved", key: "kubernetes.io/x", value: "v" },
    { reason: "reserved", key: "k8s.io/x", value: "v" },
    { reason: "reserved", key: "a.k8s.io/x", value: "v" },
    { reason: "reserved", key: "topology.kubernetes.io/region", value: "v" },
    { reason: "reserved", key: "cloudwire.dev/x", value: "v" },
    { reason: "invalid", key: "no spaces", value: "v" },
    { reason: "invalid", key: "UPPER.example/x", value: "v" },
    { reason: "invalid", key: "example.com/", value: "v" },
    { reason: "invalid", key: "bar", value: "no spaces" },
    { reason: "invalid", key: "bar", value: "a".repeat(64) },
  ])("drops $key=$value as $reason (case A-5)", ({ reason, key, value }) => {
    expect(further(labeled({ foo: "user" }), { [key]: value })).toEqual({
      ...NOTHING,
      dropped: [{ key, value, reason }],
    });
  });

  test("drops a reserved one that is recorded as ours, too", () => {
    const node = labeled({ "node-restriction.kubernetes.io/pool": "a" }, "node-restriction.kubernetes.io/pool");
    const cloud = { "node-restriction.kubernetes.io/pool": "b" };
    expect(further(node, cloud).changes).toEqual({});
  });

  test("leaves one with the same value as it is, and does not record it as ours", () => {
    expect(further(labeled({ foo: "v" }), { foo: "v" })).toEqual(NOTHING);
  });

  test("leaves one that another client set, and reports it", () => {
    expect(further(labeled({ foo: "user" }, "bar"), { foo: "cloud" })).toEqual({
      ...NOTHING,
      differences: [
        {
          field: "labels",
          message:
            'the cloud reports label foo="cloud", but another client has set it to "user" and it is not changed; to let it follow the cloud: kubectl label node n foo-',
        },
      ],
    });
  });

  test("follows the cloud with one that is recorded as ours, without another record", () => {
    expect(further(labeled({ foo: "old", bar: "b" }, "bar,foo"), { foo: "new" })).toEqual({
      ...NOTHING,
      changes: { foo: "new" },
    });
  });

  test("sets one of ours again that an operator took away", () => {
    expect(further(labeled({}, "foo"), { foo: "v" })).toEqual({ ...NOTHING, changes: { foo: "v" } });
  });

  test("drops an impossible new value of one of ours", () => {
    expect(further(labeled({ foo: "old" }, "foo"), { foo: "a b" })).toEqual({
      ...NOTHING,
      dropped: [{ key: "foo", value: "a b", reason: "invalid" }],
    });
  });

  test("never removes one that the cloud does not send any more", () => {
    expect(further(labeled({ foo: "v" }, "foo"), {})).toEqual(NOTHING);
  });

  test("records one more in order, without those that are gone", () => {
    const node = labeled({ b: "1", z: "1" }, "z,gone,b");
    expect(further(node, { m: "1" })).toEqual({ ...NOTHING, changes: { m: "1" }, record: "b,m,z" });
  });

  test("keeps one on record that it sets again in the same write", () => {
    expect(further(labeled({}, "b"), { a: "1", b: "1" })).toEqual({
      ...NOTHING,
      changes: { a: "1", b: "1" },
      record: "a,b",
    });
  });

  test("takes an empty record for none", () => {
    expect(further(labeled({}, ""), { a: "1" }).record).toBe("a");
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
      it: "the new name that an operator edited",
      labels: { "beta.kubernetes.io/instance-type": "m5", "node.kubernetes.io/instance-type": "edited" },
      want: { "node.kubernetes.io/instance-type": "m5" },
    },
    {
      it: "an empty beta value too",
      labels: { "failure-domain.beta.kubernetes.io/zone": "", "topology.kubernetes.io/zone": "a" },
      want: { "topology.kubernetes.io/zone": "" },
    },
    {
      it: "several at once",
      labels: { "failure-domain.beta.kubernetes.io/zone": "a", "failure-domain.beta.kubernetes.io/region": "r" },
      want: { "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r" },
    },
  ])("sets $it", ({ labels, want }) => {
    expect(mirrorBetaLabels(labels)).toEqual(want);
  });
});

describe("field policies", () => {
  test("FIELD_RULES are the table of the documentation", () => {
    const page = readFileSync(new URL("../../../../../docs/explanation/nodes.md", import.meta.url), "utf8");
    const [, table = ""] = /<!-- begin policies -->\n\n.*\n.*\n([^]*?)\n\n<!-- end policies -->/.exec(page) ?? [];
    const rows = Object.entries(FIELD_RULES).map(
      ([field, { target, policy, why }]) => `| ${field} | ${target} | ${policy} | ${why} |`,
    );
    expect(table.split("\n")).toEqual(rows);
  });

  test("labelPolicies() leave the default of zone and region to the flag, which has the same", () => {
    expect(labelPolicies("warn")).toEqual({
      instanceType: FIELD_RULES.instanceType.policy,
      zone: FIELD_RULES.zone.policy,
      region: FIELD_RULES.region.policy,
    });
    expect(labelPolicies("follow")).toEqual({ instanceType: "follow", zone: "follow", region: "follow" });
  });
});
