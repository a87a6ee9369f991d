import { absent, type CallContext, type InstanceEvent, type WatchRequest } from "@cloudwire/provider-sdk";
import { Instance } from "../../api/instances.ts";
import type { Event } from "../../api/events.ts";
import { feedStart, followFeed } from "../change-feed.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { listInstances } from "./list.ts";
import { formatId } from "./provider-id.ts";
import { toInstance } from "./to-instance.ts";

/** The cloud's change feed as hints about machines. */
export async function* watchInstances(
  cloud: CloudAccess,
  request: WatchRequest,
  context: CallContext,
): AsyncGenerator<InstanceEvent> {
  let from = request.resumeToken;
  const missing: string[] = [];
  if (request.sendInitialEvents) {
    for await (const item of listInstances(cloud, context)) {
      if (item.kind === "unreachable") missing.push(item.place);
      else if (item.kind === "resumeFrom") from = item.token;
      else yield { kind: "upsert", instance: item };
    }
    yield { kind: "bookmark", initialEventsEnd: true, ...(from === undefined ? {} : { token: from }) };
  }
  // Instances that were only hidden cause no change event, so the receiver must list until it sees them.
  if (missing.length > 0) yield { kind: "resync", message: `zone ${missing.join(", ")} could not be reached` };
  from ??= await feedStart(cloud, context);
  for await (const { events, token } of followFeed(cloud, context, "instance", from)) {
    for (const event of events) {
      const { resource } = event;
      if (cloud.checks.isOf(Instance, resource)) yield toEvent(event, resource);
    }
    yield { kind: "bookmark", token };
  }
}

function toEvent({ type, token, time }: Event, instance: Instance): InstanceEvent {
  if (type !== "deleted" && instance.state !== "terminated") {
    return { kind: "upsert", instance: toInstance(instance), token };
  }
  const id = formatId({ zone: instance.zone, instanceId: instance.id });
  return {
    kind: "gone",
    id,
    absence: absent("TERMINATED", { observeTime: new Date(time), stronglyConsistent: true }),
    token,
  };
}
