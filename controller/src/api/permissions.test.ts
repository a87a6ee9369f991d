import { describe, expect, test } from "vitest";
import { EVERY_REPLICA, LEADER_ELECTION, LEADER_MIGRATION, PERMISSIONS, SERVING } from "./permissions.ts";

const NOT_CONTROLLERS: ReadonlySet<string> = new Set([EVERY_REPLICA, LEADER_ELECTION, LEADER_MIGRATION, SERVING]);

/** What each controller changes, without subresources. */
const changes = PERMISSIONS.filter(({ of, verbs }) => !NOT_CONTROLLERS.has(of) && verbs.includes("patch")).map(
  ({ of, group, resource: path }) => {
    const [resource = ""] = path.split("/");
    return { of, group, resource };
  },
);

describe("PERMISSIONS", () => {
  test.each(changes)("let $of list the $resource that it changes, as it does while it is observed", (change) => {
    const lists = PERMISSIONS.filter(
      ({ of, verbs }) => [EVERY_REPLICA, change.of].includes(of) && verbs.includes("list"),
    );
    expect(lists).toContainEqual(expect.objectContaining({ group: change.group, resource: change.resource }));
  });

  test("have a controller that changes each kind", () => {
    expect(new Set(changes.map(({ resource }) => resource))).toEqual(
      new Set(["nodes", "services", "persistentvolumes", "certificatesigningrequests"]),
    );
  });
});
