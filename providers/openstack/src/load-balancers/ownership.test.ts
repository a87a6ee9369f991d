import { taggedService, ownershipTagsOf } from "@cloudwire/provider-sdk";
import { expect, test } from "vitest";
import { fromTags, problemOfTags, toTags, userTags } from "./ownership.ts";

const cluster = { id: "c1", name: "blue" };
const service = { namespace: "default", name: "web", uid: "u1" };
const own = toTags(ownershipTagsOf(cluster, service));

test("problemOfTags() checks the ownership tags", () => {
  const check = (tags: readonly string[]) => problemOfTags({ id: "1", name: "k", tags }, { cluster, service });
  expect(check(own)).toBeUndefined();
  expect(check(["team=blue"])).toMatchObject({ reason: "NAME_TAKEN" });
  expect(check(toTags(ownershipTagsOf({ id: "c2", name: "red" }, service)))).toMatchObject({
    reason: "OWNED_BY_ANOTHER_CLUSTER",
    message: "load balancer 1 belongs to cluster red (c2)",
  });
});

test("fromTags() reads what toTags() has written", () => {
  const ownership = fromTags([
    ...toTags({ ...ownershipTagsOf(cluster, service), spec: "a=b", nodes: "n" }),
    "team=blue",
  ]);
  expect(ownership).toMatchObject({ clusterId: "c1", clusterName: "blue", serviceUid: "u1", spec: "a=b", nodes: "n" });
  expect(taggedService(ownership)).toEqual(service);
});

test("userTags() removes ownership tags of users and truncates long tags", () => {
  const tags = userTags({ "cloudwire.dev/cluster-id": "c2", team: "blue", long: "x".repeat(300) });
  expect(tags).toEqual([`long=${"x".repeat(250)}`, "team=blue"]);
});
