import { randomUUID } from "node:crypto";
import { type InstanceEvent, type InstanceHandlers, watchFromList } from "@cloudwire/provider-sdk";

type List = Parameters<typeof watchFromList.instances>[0];

/** A watch that is made of lists. Its tokens say only that they cannot be continued: the receiver then lists anew, without a gap. */
export function watchInstances(list: List, intervalMs: number): NonNullable<InstanceHandlers["watch"]> {
  const watch = watchFromList.instances(list, { intervalMs });
  return async function* withTokens(request, context): AsyncGenerator<InstanceEvent> {
    const token = randomUUID();
    for await (const event of watch(request, context)) yield { ...event, token };
  };
}
