import { describe, expect, test } from "vitest";
import { problemOfTags, serviceIn, ownershipTags, type Tags, userTags } from "./ownership.ts";

const cluster = { id: "cluster-1", name: "blue" };
const service = { namespace: "default", name: "web", uid: "uid-1" };
const ownTags = ownershipTags(cluster, service);

describe("problemOfTags()", () => {
  const problem = (tags: Tags) =>
    problemOfTags({ what: "load balancer", id: "arn", name: "k8s-1", tags }, { cluster, service });

  test("is none for the Service's own", () => {
    expect(problem(ownTags)).toBeUndefined();
  });

  test.each([
    [{}, "NAME_TAKEN", {}, "it was not created by a cluster"],
    [
      { "elbv2.k8s.aws/cluster": "green" },
      "NAME_TAKEN",
      { owner: "elbv2.k8s.aws/cluster=green" },
      "belongs to elbv2.k8s.aws/cluster=green",
    ],
    [
      ownershipTags({ id: "cluster-2", name: "green" }, service),
      "OWNED_BY_ANOTHER_CLUSTER",
      { owner_cluster_id: "cluster-2", owner_cluster_name: "green" },
      "belongs to cluster green (cluster-2)",
    ],
  ])("of %j is %s and names the owner", (tags, reason, metadata, words) => {
    expect(problem(tags)).toMatchObject({ reason, metadata, message: expect.stringContaining(words) });
  });
});

test("serviceIn() reads what ownershipTags() writes", () => {
  expect(serviceIn(ownTags)).toEqual(service);
});

test("userTags() removes ownership tags of users", () => {
  expect(userTags({ team: "blue", "cloudwire.dev/cluster-id": "x", "kubernetes.io/service-name": "a/b" })).toEqual({
    team: "blue",
  });
});
