import {
  EVERY_REPLICA,
  GRANTED_ON_REQUEST,
  LEADER_ELECTION,
  OBSERVER_PERMISSIONS,
  PERMISSIONS,
  SERVING,
  STATUS_READER_PATHS,
} from "@cloudwire/controller/permissions";
import { type KubernetesObject, renderChart } from "@cloudwire/deploy/chart";
import { rolesFor } from "@cloudwire/deploy/roles";
import { expect, test } from "vitest";
import { at } from "../../support/kube.ts";

const ACCOUNT = { kind: "ServiceAccount", name: "cloud-controller-manager", namespace: "kube-system" } as const;

/** Roles and bindings by what they are called, without labels. */
const byName = (objects: readonly KubernetesObject[]): Readonly<Record<string, object>> =>
  Object.fromEntries(
    objects.map(({ metadata: { name, namespace = "" }, ...rest }) => [`${rest.kind} ${namespace}/${name}`, rest]),
  );

const rendered = async (config: object, values: object = {}): Promise<readonly KubernetesObject[]> =>
  (await renderChart({ values: { replicas: 1, providers: [{ name: "acme" }], config, ...values } })).filter(
    ({ apiVersion }) => apiVersion.startsWith("rbac."),
  );

const isOn = (of: string): boolean => !GRANTED_ON_REQUEST.has(of);

const ALL = {
  Controllers: ["*", "node-ipam-controller", "persistent-volume-label", "kubelet-serving-csr-approver"],
  LeaderMigrationEnabled: true,
};

test.each<[string, object, (of: string) => boolean]>([
  ["by default", {}, isOn],
  ["with everything on", { Generic: ALL }, () => true],
  [
    "with one controller",
    { Generic: { Controllers: ["service"] } },
    (of) => [EVERY_REPLICA, LEADER_ELECTION, SERVING, "service-lb-controller"].includes(of),
  ],
  [
    "with one controller off, the first mention of it being the one that counts",
    { Generic: { Controllers: "*,-route,node-route-controller" } },
    (of) => isOn(of) && of !== "node-route-controller",
  ],
  [
    "without leader election",
    { Generic: { LeaderElection: { LeaderElect: false } } },
    (of) => isOn(of) && of !== LEADER_ELECTION,
  ],
  ["without pages", { Generic: { Port: 0 } }, (of) => isOn(of) && of !== SERVING],
])("roles are what the parts that are on declare, %s", async (_name, config, isWanted) => {
  expect(byName(await rendered(config))).toEqual(byName(rolesFor(PERMISSIONS, isWanted, ACCOUNT)));
});

test("who only observes may only read", async () => {
  const objects = await rendered({ Cloudwire: { Mode: "observe" } });
  expect(byName(objects)).toEqual(byName(rolesFor(OBSERVER_PERMISSIONS, () => true, ACCOUNT)));
});

test("the role for the Lease is for the one that the settings name", async () => {
  const objects = await rendered({
    Generic: { LeaderElection: { ResourceName: "second", ResourceNamespace: "clouds" } },
  });
  const rules = (key: string): unknown => at(byName(objects)[key], "rules");
  const where = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  expect(rules("Role clouds/cloudwire:leader-election")).toEqual([
    { ...where, verbs: ["create"] },
    { ...where, resourceNames: ["second"], verbs: ["get", "update", "watch"] },
  ]);
  expect(rules("Role kube-system/cloudwire:leader-election")).toBeUndefined();
});

test("who reads metrics may read those and nothing else", async () => {
  const reader = { kind: "ServiceAccount", name: "prometheus", namespace: "monitoring" };
  const objects = byName(await rendered({}, { metrics: { subjects: [reader] } }));
  expect(objects["ClusterRole /cloudwire:metrics-reader"]).toMatchObject({
    rules: [{ nonResourceURLs: ["/metrics", "/metrics/slis"], verbs: ["get"] }],
  });
  expect(objects["ClusterRoleBinding /cloudwire:metrics-reader"]).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "cloudwire:metrics-reader" },
    subjects: [reader],
  });
});

test("operators may read the status page and what it shows, and nothing else", async () => {
  const operators = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "operators" };
  const objects = byName(await rendered({}, { statusPage: { subjects: [operators] } }));
  expect(objects["ClusterRole /cloudwire:status-reader"]).toMatchObject({
    rules: [{ nonResourceURLs: STATUS_READER_PATHS, verbs: ["get"] }],
  });
  expect(objects["ClusterRoleBinding /cloudwire:status-reader"]).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "cloudwire:status-reader" },
    subjects: [operators],
  });
});
