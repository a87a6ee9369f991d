import { describe, expect, test } from "vitest";
import { ownershipConflict, type OwnershipTags, taggedService, ownershipTagsOf } from "./ownership-tags.ts";

const cluster = { id: "cluster-1", name: "blue" };
const service = { namespace: "default", name: "web", uid: "uid-1" };
const tags = ownershipTagsOf(cluster, service);
const other = ownershipTagsOf(cluster, { ...service, name: "other", uid: "uid-2" });

describe("ownershipConflict()", () => {
  const conflict = (seen: OwnershipTags, foreignOwner?: string) =>
    ownershipConflict(
      { what: "load balancer", id: "1", name: "k8s-1", tags: seen, foreignOwner },
      { cluster, service },
    );

  test("returns undefined for an object of the Service itself", () => {
    expect(conflict(tags)).toBeUndefined();
  });

  test.each([
    [{}, undefined, "NAME_TAKEN", {}, "has the name k8s-1 and no ownership tags: it was not created by a cluster"],
    [{}, "owner=green", "NAME_TAKEN", { owner: "owner=green" }, "has the name k8s-1 and belongs to owner=green"],
    [
      ownershipTagsOf({ id: "cluster-2", name: "green" }, service),
      undefined,
      "OWNED_BY_ANOTHER_CLUSTER",
      { owner_cluster_id: "cluster-2", owner_cluster_name: "green" },
      "belongs to cluster green (cluster-2)",
    ],
    [
      ownershipTagsOf({ id: "cluster-2" }),
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
      "has the name k8s-1 and is tagged for Service default/other",
    ],
  ])(
    "returns an error that names the owner for %j, also tagged %s: %s",
    (seen, foreignOwner, reason, metadata, words) => {
      expect(conflict(seen, foreignOwner)).toMatchObject({
        reason,
        metadata: { ...metadata, name: "k8s-1", id: "1" },
        message: `load balancer 1 ${words}`,
      });
    },
  );

  test("returns undefined for an object of another Service if only the cluster matters", () => {
    expect(ownershipConflict({ what: "route", id: "1", name: "r", tags: other }, { cluster })).toBeUndefined();
  });
});

test("taggedService() reads what ownershipTagsOf() writes", () => {
  expect([taggedService(tags), taggedService({})]).toEqual([service, { namespace: "", name: "", uid: "" }]);
});
