import { expect, test } from "vitest";
import { ownTagsTag, tagChanges, withOwnTags } from "./own-tags.ts";

const present = { ...withOwnTags({ a: "1", "b c": "2", "cloudwire.dev/cluster-id": "x" }), theirs: "x" };

test("tagChanges() adds, changes and removes the tags of the provider, and keeps all others", () => {
  const wanted = withOwnTags({ a: "3", d: "4", "cloudwire.dev/cluster-id": "x" });
  expect(tagChanges(wanted, present)).toEqual({
    added: { a: "3", d: "4", [ownTagsTag]: wanted[ownTagsTag] },
    removed: ["b c"],
  });
});

test("tagChanges() changes nothing of what is as wanted, and removes nothing without a list", () => {
  expect(tagChanges(withOwnTags({ a: "1", "b c": "2", "cloudwire.dev/cluster-id": "x" }), present)).toEqual({
    added: {},
    removed: [],
  });
  expect(tagChanges({}, { theirs: "x" }).removed).toEqual([]);
});

test("withOwnTags() lists as many keys as AWS permits tags", () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a long key with spaces ${index}`, ""]));
  const tags = withOwnTags(many);
  expect(tags[ownTagsTag]?.length).toBeLessThanOrEqual(256);
  expect(tagChanges(withOwnTags({}), tags).removed).toHaveLength(50);
});
