/** Who asks, as Kubernetes describes users. */
export interface User {
  readonly name: string;
  /** "" when whoever vouches for the user gave none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const UNAUTHENTICATED_GROUP = "system:unauthenticated";

/** Whoever presents nothing. */
export const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: [UNAUTHENTICATED_GROUP],
  extra: {},
};

/** May do everything: cluster administrators, by Kubernetes' convention. */
export const MASTERS_GROUP = "system:masters";

const AUTHENTICATED_GROUP = "system:authenticated";

/** A user somebody vouches for is in this group as well, as on the API server; not one that a proxy passes on as nobody. */
export function authenticated(user: User): User {
  const { name, groups } = user;
  const isNobody = name === ANONYMOUS.name || groups.includes(UNAUTHENTICATED_GROUP);
  if (isNobody || groups.includes(AUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}
