import { describe, expect, test } from "vitest";
import { ownershipProblem, type Stamp, stampedService, stampOf } from "./ownership-tags.ts";

const cluster = { id: "cluster-1", name: "blue" };
const service = { namespace: "default", name: "web", uid: "uid-1" };
const stamp = stampOf(cluster, service);
const other = stampOf(cluster, { ...service, name: "other", uid: "uid-2" });

describe("ownershipProblem()", () => {
  const problem = (seen: Stamp, otherOwner?: string) =>
    ownershipProblem({ what: "load balancer", id: "1", name: "k8s-1", stamp: seen, otherOwner }, { cluster, service });

  test("is none for the Service's own", () => {
    expect(problem(stamp)).toBeUndefined();
  });

  test.each([
    [{}, undefined, "NAME_TAKEN", {}, "has the name k8s-1 and no cluster's stamp: somebody made it by hand"],
    [{}, "owner=green", "NAME_TAKEN", { owner: "owner=green" }, "has the name k8s-1 and belongs to owner=green"],
    [
      stampOf({ id: "cluster-2", name: "green" }, service),
      undefined,
      "OWNED_BY_ANOTHER_CLUSTER",
      { owner_cluster_id: "cluster-2", owner_cluster_name: "green" },
      "belongs to cluster green (cluster-2)",
    ],
    [
      stampOf({ id: "cluster-2" }),
      undefined,
      "OWNED_BY_ANOTHER_CLUSTER",
      { owner_cluster_id: "cluster-2", owner_cluster_name: "" },
      "belongs to cluster cluster-2",
    ],
    [
      other,
      undefined,
      "NAME_TAKEN",
      { owner: "default/other" },
      "has the name k8s-1 and is stamped for Service default/other",
    ],
  ])("of %j, also marked %s, is %s and names the owner", (seen, otherOwner, reason, metadata, words) => {
    expect(problem(seen, otherOwner)).toMatchObject({
      reason,
      metadata: { ...metadata, name: "k8s-1", id: "1" },
      message: `load balancer 1 ${words}`,
    });
  });

  test("is none of another Service's where only the cluster counts", () => {
    expect(ownershipProblem({ what: "route", id: "1", name: "r", stamp: other }, { cluster })).toBeUndefined();
  });
});

test("stampedService() reads what stampOf() writes", () => {
  expect([stampedService(stamp), stampedService({})]).toEqual([service, { namespace: "", name: "", uid: "" }]);
});
