import {
  type CallContext,
  type Instance as ProviderInstance,
  type ResumeFrom,
  resumeFrom,
  type Unreachable,
  unreachable,
} from "@cloudwire/provider-sdk";
import type { CloudAccess } from "../cloud-access.ts";
import { readAll } from "../pages.ts";
import { toInstance } from "./to-instance.ts";

/** All instances of the account, page by page as they are asked for, all from one snapshot. */
export async function* listInstances(
  cloud: CloudAccess,
  context: CallContext,
): AsyncGenerator<ProviderInstance | Unreachable | ResumeFrom> {
  const pages = readAll(cloud, context, async (client, pageToken, signal) =>
    client.listInstances({ pageSize: 1000, pageToken, consistent: true }, signal),
  );
  let snapshot: string | undefined;
  const zones = new Set<string>();
  for await (const page of pages) {
    snapshot ??= page.snapshot;
    for (const zone of page.unreachable.zones) zones.add(zone);
    for (const instance of page.items) {
      if (instance.state !== "terminated") yield toInstance(instance);
    }
  }
  for (const zone of zones) yield unreachable(zone);
  if (snapshot !== undefined) yield resumeFrom(snapshot);
}
