/** Who asks, as Kubernetes describes users. */
export interface User {
  readonly name: string;
  /** "" when whoever vouches for the user gave none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whoever presents nothing. */
export const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: {},
};

/** May do everything: cluster administrators, by Kubernetes' convention. */
export const MASTERS_GROUP = "system:masters";

const AUTHENTICATED_GROUP = "system:authenticated";

/** A user somebody vouches for is in this group as well, as on the API server. */
export function authenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}
