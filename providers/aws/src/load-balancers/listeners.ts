import {
  CreateListenerCommand,
  type CreateListenerCommandInput,
  DeleteListenerCommand,
  DescribeListenerAttributesCommand,
  type Listener,
  ModifyListenerAttributesCommand,
  ModifyListenerCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { fromAwsTags, toAwsTags } from "../cloud/ownership.ts";
import type { SeenListener } from "./reader.ts";
import type { Tools, Work } from "./tools.ts";
import type { TargetedGroup } from "./target-groups/targets.ts";
import { defaultIdleTimeoutSeconds, type DesiredListener, type NlbSpec } from "./desired/nlb-spec.ts";
import { withOwnTags } from "./tags/own-tags.ts";
import type { TaggedPart } from "./tags/write-tags.ts";

/** The changes of listeners, in an order that frees a port before it is used again. */
export interface ListenerPlan<Seen> {
  readonly deletes: readonly Seen[];
  readonly changes: readonly { readonly seen: Seen; readonly wanted: DesiredListener }[];
  readonly creates: readonly DesiredListener[];
  readonly keeps: readonly { readonly seen: Seen; readonly wanted: DesiredListener }[];
}

const idleTimeoutKey = "tcp.idle_timeout.seconds";

/** @param arnOf the target group with this name, if it exists */
export function planListeners<Seen extends Pick<SeenListener, "port" | "details">>(
  wanted: readonly DesiredListener[],
  present: readonly Seen[],
  arnOf: (groupName: string) => string | undefined,
): ListenerPlan<Seen> {
  const kept = wanted.flatMap((listener) => {
    const seen = present.find(({ port, details }) => port === listener.port && canBecome(details, listener));
    return seen ? [{ seen, wanted: listener }] : [];
  });
  const isAsWanted = ({ seen, wanted: listener }: (typeof kept)[number]): boolean =>
    hasListener(seen.details, listener, arnOf(listener.group.name));
  return {
    deletes: present.filter((seen) => !kept.some((pair) => pair.seen === seen)),
    changes: kept.filter((pair) => !isAsWanted(pair)),
    creates: wanted.filter((listener) => !kept.some((pair) => pair.wanted === listener)),
    keeps: kept,
  };
}

/** TCP may become TLS and back; a change to or from UDP is another listener. */
function canBecome({ Protocol }: Listener, { protocol }: DesiredListener): boolean {
  const isStream = (name: string | undefined): boolean => name === "TCP" || name === "TLS";
  return Protocol === protocol || (isStream(Protocol) && isStream(protocol));
}

function hasListener(details: Listener, wanted: DesiredListener, groupArn: string | undefined): boolean {
  const [action] = details.DefaultActions ?? [];
  const [certificate] = details.Certificates ?? [];
  const isTls = wanted.tls !== undefined;
  return (
    details.Protocol === wanted.protocol &&
    action?.TargetGroupArn === groupArn &&
    (!isTls || (certificate?.CertificateArn === wanted.tls.certificateArn && details.SslPolicy === wanted.tls.policy))
  );
}

/** Makes the load balancer's listeners be the wanted ones. Answers those that existed before, without their tags. */
export async function ensureListeners(
  tools: Tools,
  balancerArn: string,
  { listeners: wanted, tags }: Pick<NlbSpec, "listeners" | "tags">,
  groups: readonly TargetedGroup[],
  work: Work,
): Promise<readonly Omit<TaggedPart, "present">[]> {
  const arns = new Map(groups.map(({ name, arn }) => [name, arn]));
  const present = await tools.reader.listeners(balancerArn, work.context);
  const plan = planListeners(wanted, present, (name) => arns.get(name));
  const planned = (action: "create" | "update" | "delete", port: number) =>
    ({ action, resourceType: "listener", resourceId: String(port) }) as const;
  for (const { arn, port } of plan.deletes) {
    await work.change(planned("delete", port), () =>
      tools.aws.elb(work.context, (client, options) =>
        client.send(new DeleteListenerCommand({ ListenerArn: arn }), options),
      ),
    );
  }
  for (const { seen, wanted: listener } of plan.changes) {
    const input = { ListenerArn: seen.arn, ...inputOf(listener, arns.get(listener.group.name)) };
    await work.change(planned("update", seen.port), () =>
      tools.aws.elb(work.context, (client, options) => client.send(new ModifyListenerCommand(input), options)),
    );
  }
  for (const { seen, wanted: listener } of plan.keeps) await ensureIdleTimeout(tools, seen.arn, listener, work);
  for (const listener of plan.creates) {
    await work.change(planned("create", listener.port), () =>
      createListener(
        tools,
        { LoadBalancerArn: balancerArn, Tags: toAwsTags(withOwnTags(tags)) },
        listener,
        arns.get(listener.group.name),
        work,
      ),
    );
  }
  return plan.keeps.map(({ seen: { arn, port } }) => ({ resourceType: "listener", id: arn, name: String(port) }));
}

function inputOf({ port, protocol, tls }: DesiredListener, groupArn: string | undefined) {
  return {
    Port: port,
    Protocol: protocol,
    DefaultActions: [{ Type: "forward", TargetGroupArn: groupArn }],
    ...(tls ? { Certificates: [{ CertificateArn: tls.certificateArn }], SslPolicy: tls.policy } : {}),
  } satisfies Omit<CreateListenerCommandInput, "LoadBalancerArn">;
}

async function createListener(
  tools: Tools,
  fixed: Pick<CreateListenerCommandInput, "LoadBalancerArn" | "Tags">,
  listener: DesiredListener,
  groupArn: string | undefined,
  work: Work,
): Promise<void> {
  const input = { ...fixed, ...inputOf(listener, groupArn) };
  const { Listeners = [] } = await tools.aws.elb(work.context, (client, options) =>
    client.send(new CreateListenerCommand(input), options),
  );
  const arn = Listeners[0]?.ListenerArn;
  const seconds = listener.idleTimeoutSeconds ?? defaultIdleTimeoutSeconds;
  if (arn !== undefined && seconds !== defaultIdleTimeoutSeconds) await writeIdleTimeout(tools, arn, seconds, work);
}

async function ensureIdleTimeout(tools: Tools, arn: string, listener: DesiredListener, work: Work): Promise<void> {
  const seconds = listener.idleTimeoutSeconds;
  if (seconds === undefined) return;
  const { Attributes } = await tools.aws.elb(work.context, (client, options) =>
    client.send(new DescribeListenerAttributesCommand({ ListenerArn: arn }), options),
  );
  const present = Number(fromAwsTags(Attributes)[idleTimeoutKey] ?? defaultIdleTimeoutSeconds);
  if (present === seconds) return;
  const summary = `idle timeout of ${seconds} s`;
  const planned = { action: "update", resourceType: "listener", resourceId: String(listener.port), summary } as const;
  await work.change(planned, () => writeIdleTimeout(tools, arn, seconds, work));
}

async function writeIdleTimeout({ aws }: Tools, arn: string, seconds: number, work: Work): Promise<void> {
  const Attributes = [{ Key: idleTimeoutKey, Value: String(seconds) }];
  await aws.elb(work.context, (client, options) =>
    client.send(new ModifyListenerAttributesCommand({ ListenerArn: arn, Attributes }), options),
  );
}
