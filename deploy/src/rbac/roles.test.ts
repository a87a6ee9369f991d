import type { Permission } from "@cloudwire/controller/permissions";
import { describe, expect, test } from "vitest";
import { rolesFor } from "./roles.ts";

const permissions: readonly Permission[] = [
  { of: "a", group: "", resource: "nodes", verbs: ["list", "watch"], why: "" },
  { of: "b", group: "", resource: "services", verbs: ["patch"], why: "" },
  { of: "a", group: "", resource: "nodes/status", verbs: ["patch"], why: "" },
  { of: "a", namespace: "kube-system", group: "x.io", resource: "leases", names: ["one"], verbs: ["get"], why: "" },
];

describe("rolesFor()", () => {
  test("gives each part that is wanted a role in the cluster and one in each namespace, and binds them", () => {
    const account = { kind: "ServiceAccount", name: "ccm", namespace: "kube-system" } as const;
    expect(rolesFor(permissions, (of) => of === "a", account)).toEqual([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "cloudwire:a" },
        rules: [
          { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
          { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
        ],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "cloudwire:a" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cloudwire:a" },
        subjects: [account],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "cloudwire:a", namespace: "kube-system" },
        rules: [{ apiGroups: ["x.io"], resources: ["leases"], resourceNames: ["one"], verbs: ["get"] }],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "cloudwire:a", namespace: "kube-system" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "cloudwire:a" },
        subjects: [account],
      },
    ]);
  });

  test("says once what two parts of a role ask for", () => {
    const account = { kind: "User", name: "ccm" } as const;
    const twice = [...permissions, ...permissions].filter(({ of }) => of === "b");
    expect(rolesFor(twice, () => true, account)).toEqual(rolesFor(permissions, (of) => of === "b", account));
  });

  test("binds a user by the group that RBAC asks for", () => {
    const [, binding] = rolesFor(permissions, (of) => of === "b", { kind: "User", name: "ccm" });
    expect(binding).toMatchObject({
      subjects: [{ kind: "User", name: "ccm", apiGroup: "rbac.authorization.k8s.io" }],
    });
  });
});
