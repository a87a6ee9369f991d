import { ApiError, forbidden, unauthorized } from "../api-error.ts";
import type { UserName } from "../resources/resource.ts";

/** What a user may do, in the terms of RBAC. `*` stands for anything. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  /** Only in these namespaces; without it everywhere. */
  readonly namespaces?: readonly string[];
  readonly nonResourceUrls?: readonly string[];
}

/** A user that authenticates with a bearer token. */
export interface User extends UserName {
  readonly token: string;
  /** Everything that the user may do; without it all is allowed. */
  readonly rules?: readonly PolicyRule[];
}

/** What a request wants to do. */
export type Attributes =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly kind: "path"; readonly verb: string; readonly path: string };

export interface AccessOptions {
  readonly users: readonly User[];
  /** Requests without a token act as the administrator. */
  readonly anonymous: boolean;
}

/** Who asks and what they may do. */
export interface Access {
  /** The user of an Authorization header; throws ApiError 401. */
  readonly authenticate: (authorization: string | undefined) => UserName;
  /** The user of a token, undefined when no one has it. */
  readonly userOf: (token: string) => UserName | undefined;
  readonly allows: (user: Pick<UserName, "name" | "groups">, attributes: Attributes) => boolean;
}

/** Members may do everything, as on every cluster. */
const masters = "system:masters";
const authenticated = "system:authenticated";
const openPaths = /^\/(?:api|apis|healthz|livez|openapi|readyz|version)(?:\/|$)/;
const selfReviews = ["selfsubjectaccessreviews", "selfsubjectreviews"];
const administrator: UserName = { name: "admin", uid: "admin", groups: [masters, authenticated] };

export function createAccess({ users, anonymous }: AccessOptions): Access {
  const known = new Map(users.map((user) => [user.token, withGroup(user)] as const));
  const rules = new Map(users.map((user) => [user.name, user.rules] as const));
  return {
    userOf: (token) => known.get(token),
    authenticate: (authorization) => {
      if (authorization === undefined || authorization === "") {
        if (anonymous) return administrator;
        throw unauthorized();
      }
      const user = known.get(authorization.replace(/^Bearer\s+/i, ""));
      if (user === undefined) throw unauthorized();
      return user;
    },
    allows: (user, attributes) => {
      if (user.groups.includes(masters) || isOpenToAll(user, attributes)) return true;
      if (!rules.has(user.name)) return false;
      return rules.get(user.name)?.some((rule) => permits(rule, attributes)) ?? true;
    },
  };
}

/** What the roles system:discovery and system:basic-user give to everybody who signed in. */
function isOpenToAll({ groups }: Pick<UserName, "groups">, attributes: Attributes): boolean {
  if (!groups.includes(authenticated)) return false;
  if (attributes.kind === "path") return attributes.verb === "get" && openPaths.test(attributes.path);
  return attributes.verb === "create" && selfReviews.includes(attributes.resource);
}

/** The 403 that the real server answers with. */
export function denied(user: UserName, attributes: Attributes): ApiError {
  const who = `User "${user.name}" cannot ${attributes.verb}`;
  if (attributes.kind === "path") {
    const message = `forbidden: ${who} path "${attributes.path}"`;
    return new ApiError({ code: 403, reason: "Forbidden", message, details: {} });
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return forbidden({ group, resource }, name, `${who} resource "${what}" in API group "${group}" ${where}`);
}

function withGroup({ name, uid, groups, extra }: User): UserName {
  return { name, uid, extra, groups: groups.includes(authenticated) ? groups : [...groups, authenticated] };
}

function permits(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === "path") {
    return (rule.nonResourceUrls ?? []).some((url) =>
      url.endsWith("*") ? attributes.path.startsWith(url.slice(0, -1)) : attributes.path === url,
    );
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  return (
    includes(rule.apiGroups, group) &&
    includes(rule.resources, what) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name)) &&
    (rule.namespaces === undefined || rule.namespaces.includes(namespace))
  );
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}
