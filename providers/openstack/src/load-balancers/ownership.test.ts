import { describe, expect, test } from "vitest";
import { fromTags, ownershipProblem, stampedService, stampOf, toTags, userTags } from "./ownership.ts";

const cluster = { id: "c1", name: "blue" };
const service = { namespace: "default", name: "web", uid: "u1" };
const own = toTags(stampOf(cluster, service));

const judge = (tags: readonly string[]) =>
  ownershipProblem({ what: "load balancer 1", name: "k", tags }, { cluster, service });

describe("ownershipProblem()", () => {
  test("has nothing against one's own", () => {
    expect(judge(own)).toBeUndefined();
  });

  test.each([
    ["nobody's", ["team=blue"], { reason: "NAME_TAKEN" }],
    [
      "another cluster's",
      toTags(stampOf({ id: "c2", name: "red" }, service)),
      { reason: "OWNED_BY_ANOTHER_CLUSTER", message: "load balancer 1 belongs to cluster red (c2)" },
    ],
    [
      "another Service's",
      toTags(stampOf(cluster, { ...service, name: "api", uid: "u2" })),
      { reason: "NAME_TAKEN", message: expect.stringContaining("default/api") },
    ],
  ])("judges %s", (_whose, tags, expected) => {
    expect(judge(tags)).toMatchObject(expected);
  });
});

test("fromTags() reads what toTags() has written", () => {
  const stamp = fromTags([...toTags({ ...stampOf(cluster, service), spec: "a=b", nodes: "n" }), "team=blue"]);
  expect(stamp).toMatchObject({ clusterId: "c1", clusterName: "blue", serviceUid: "u1", spec: "a=b", nodes: "n" });
  expect(stampedService(stamp)).toEqual(service);
});

test("userTags() leaves out what pretends to be a stamp, and cuts what is too long", () => {
  const tags = userTags({ "cloudwire.dev/cluster-id": "c2", team: "blue", long: "x".repeat(300) });
  expect(tags).toEqual([`long=${"x".repeat(250)}`, "team=blue"]);
});
