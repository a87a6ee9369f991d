import { createHash } from "node:crypto";
import { isOwnershipTag, type Tags } from "../../cloud/ownership.ts";
import { changedEntries } from "../diff.ts";

/** The tag that lists the tags that the provider has set for users, so that it removes no others. */
export const ownTagsTag = "cloudwire.dev/own-tags";

/** Characters for each key in that tag: its 256 take more keys than the 50 tags that AWS permits. */
const digestLength = 5;

/** The tags, and the list of those that users may remove again. */
export function withOwnTags(tags: Tags): Tags {
  const digests = Object.keys(tags).flatMap((key) => (isOwnershipTag(key) ? [] : [digestOf(key)]));
  return { ...tags, [ownTagsTag]: digests.toSorted().join("") };
}

/** What makes an object have the wanted tags, and keeps those of others. */
export interface TagChanges {
  readonly added: Tags;
  /** Keys. */
  readonly removed: readonly string[];
}

/** @param wanted with the list of own tags */
export function tagChanges(wanted: Tags, present: Tags): TagChanges {
  const listed = present[ownTagsTag] ?? "";
  const own = new Set(Array.from({ length: listed.length / digestLength }, (_, index) => part(listed, index)));
  const removed = Object.keys(present).filter((key) => wanted[key] === undefined && own.has(digestOf(key)));
  return { added: changedEntries(wanted, present), removed };
}

function part(listed: string, index: number): string {
  return listed.slice(index * digestLength, (index + 1) * digestLength);
}

/** Keys may have spaces, which leaves no character to separate them. */
function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, digestLength);
}
