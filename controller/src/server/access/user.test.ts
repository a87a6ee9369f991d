import { expect, test } from "vitest";
import { ANONYMOUS, authenticated, type User } from "./user.ts";

const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: "", groups, extra: {} });

test.each([
  ["adds the group of all users", user("alice", "dev"), ["dev", "system:authenticated"]],
  ["adds it once", user("alice", "system:authenticated"), ["system:authenticated"]],
  ["leaves nobody nobody", ANONYMOUS, ["system:unauthenticated"]],
  ["leaves nobody nobody whom a proxy gives groups", user("system:anonymous", "dev"), ["dev"]],
  ["leaves who is of nobody's group there", user("alice", "system:unauthenticated"), ["system:unauthenticated"]],
])("authenticated() %s", (_sentence, given, groups) => {
  expect(authenticated(given).groups).toEqual(groups);
});
