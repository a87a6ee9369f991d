import { CreateTagsCommand, DeleteTagsCommand } from "@aws-sdk/client-ec2";
import { AddTagsCommand, RemoveTagsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { PlannedChange } from "@cloudwire/provider-sdk";
import { type Tags, toAwsTags } from "../../cloud/ownership.ts";
import type { Tools, Work } from "../tools.ts";
import { tagChanges } from "./own-tags.ts";

/** An object whose tags are written. */
export interface TaggedPart {
  readonly resourceType: "load balancer" | "target group" | "listener" | "security group";
  /** ARN, of a security group its ID. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly present: Tags;
}

/** Makes an object have the tags. Removes only tags that the provider has set. */
export async function writeTags(tools: Tools, part: TaggedPart, wanted: Tags, work: Work): Promise<void> {
  const { added, removed } = tagChanges(wanted, part.present);
  const planned = { action: "update", resourceType: part.resourceType, resourceId: part.name } as const;
  if (removed.length > 0) {
    const summary = `remove the tags ${removed.join(", ")}`;
    await work.change({ ...planned, summary }, () => removeTags(tools, part, removed, work));
  }
  const keys = Object.keys(added);
  if (keys.length === 0) return;
  const change: PlannedChange = { ...planned, summary: `add the tags ${keys.join(", ")}` };
  await work.change(change, () => addTags(tools, part, added, work));
}

async function addTags({ aws }: Tools, { resourceType, id }: TaggedPart, tags: Tags, work: Work): Promise<unknown> {
  if (resourceType === "security group") {
    const input = { Resources: [id], Tags: toAwsTags(tags) };
    return aws.ec2(work.context, (client, options) => client.send(new CreateTagsCommand(input), options));
  }
  const input = { ResourceArns: [id], Tags: toAwsTags(tags) };
  return aws.elb(work.context, (client, options) => client.send(new AddTagsCommand(input), options));
}

async function removeTags(
  { aws }: Tools,
  { resourceType, id }: TaggedPart,
  keys: readonly string[],
  work: Work,
): Promise<unknown> {
  if (resourceType === "security group") {
    const input = { Resources: [id], Tags: keys.map((Key) => ({ Key })) };
    return aws.ec2(work.context, (client, options) => client.send(new DeleteTagsCommand(input), options));
  }
  const input = { ResourceArns: [id], TagKeys: [...keys] };
  return aws.elb(work.context, (client, options) => client.send(new RemoveTagsCommand(input), options));
}

/** Likewise for the parts of a load balancer that existed before, whose tags are read here. */
export async function writePartTags(
  tools: Tools,
  parts: readonly Omit<TaggedPart, "present">[],
  wanted: Tags,
  work: Work,
): Promise<void> {
  const ids = (type: TaggedPart["resourceType"]): readonly string[] =>
    parts.filter(({ resourceType }) => resourceType === type).map(({ id }) => id);
  const [ofGroups, ofListeners] = await Promise.all([
    tools.reader.tags(ids("target group"), work.context),
    tools.reader.tags(ids("listener"), work.context),
  ]);
  for (const part of parts) {
    const present = ofGroups.get(part.id) ?? ofListeners.get(part.id);
    if (present) await writeTags(tools, { ...part, present }, wanted, work);
  }
}
