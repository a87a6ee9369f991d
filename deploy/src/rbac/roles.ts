import type { Permission } from "@cloudwire/controller/permissions";

/** The identity that the controllers use at the API server. */
export interface Subject {
  readonly kind: "ServiceAccount" | "User";
  readonly name: string;
  /** Of a ServiceAccount. */
  readonly namespace?: string;
}

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A Role or ClusterRole, or what binds it. */
export interface RbacObject {
  readonly apiVersion: string;
  readonly kind: "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding";
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const GROUP = "rbac.authorization.k8s.io";
const API_VERSION = `${GROUP}/v1`;

/** `cloudwire:service-lb-controller`: as Kubernetes names its own, `system:controller:…`. */
const roleName = (of: string): string => `cloudwire:${of}`;

/** A role and its binding to the subject, for each part of the process in `isWanted`, in the order of the table. */
export const rolesFor = (
  permissions: readonly Permission[],
  isWanted: (of: string) => boolean,
  subject: Subject,
): readonly RbacObject[] => {
  const wanted = permissions.filter(({ of }) => isWanted(of));
  const byRole = Map.groupBy(wanted, ({ of, namespace = "" }) => `${of}\0${namespace}`);
  return [...byRole].flatMap(([key, rights]) => {
    const [of = "", namespace = ""] = key.split("\0");
    const metadata = { name: roleName(of), ...(namespace !== "" && { namespace }) };
    const kind = namespace === "" ? "ClusterRole" : "Role";
    return [
      { apiVersion: API_VERSION, kind, metadata, rules: rulesOf(rights) } as const,
      {
        apiVersion: API_VERSION,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: GROUP, kind, name: metadata.name },
        subjects: [subject.kind === "User" ? { ...subject, apiGroup: GROUP } : subject],
      } as const,
    ];
  });
};

/** Parts may ask for the same: once is enough. */
export const rulesOf = (rights: readonly Permission[]): readonly Rule[] => [
  ...new Map(rights.map((right) => [JSON.stringify(ruleOf(right)), ruleOf(right)])).values(),
];

const ruleOf = ({ group, resource, names, verbs }: Permission): Rule => ({
  apiGroups: [group],
  resources: [resource],
  ...(names !== undefined && { resourceNames: names }),
  verbs,
});
