import { ProviderError } from "@cloudwire/provider-sdk";
import type { Event, Events, ResourceKind } from "../api/events.ts";
import type { CloudAccess, CallScope } from "./cloud-access.ts";

/** How long one question to the change feed waits; below the SDK's heartbeat of 30 s. */
const waitMs = 20_000;

/** The token of a feed that begins now. */
export async function feedStart(cloud: CloudAccess, callScope: CallScope): Promise<string> {
  const answer = await cloud.ask(callScope, async (client, signal) => client.events({}, signal));
  cloud.requireOwn(answer);
  return answer.resumeToken;
}

/** The changes of one kind after a token, without end; each answer with the token to go on from. */
export async function* followFeed(
  cloud: CloudAccess,
  callScope: CallScope,
  kind: ResourceKind,
  from: string,
): AsyncGenerator<{ readonly events: readonly Event[]; readonly token: string }> {
  if (!/^\d{1,15}$/.test(from)) {
    throw new ProviderError("RESUME_TOKEN_EXPIRED", "the resume token is not this provider's");
  }
  let after = from;
  while (!callScope.signal.aborted) {
    const position = after;
    const answer: Events = await cloud.ask(
      callScope,
      async (client, signal) => client.events({ after: position, kind: [kind], waitMs }, signal),
      waitMs,
    );
    cloud.requireOwn(answer);
    after = answer.resumeToken;
    yield { events: answer.events, token: after };
  }
}
