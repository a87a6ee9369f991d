import type { EventView, NodeView, ServiceView } from "./cluster/views.ts";

/** One line of the demo's output. */
export interface Line {
  /** The process, Node or Service that the line is about. */
  readonly subject: string;
  readonly text: string;
  readonly tone: "plain" | "good" | "bad" | "quiet";
}

/** Describes how a Node changed; `undefined` stands for an object that does not exist. */
export function describeNodeChange(before: NodeView | undefined, after: NodeView | undefined): readonly Line[] {
  if (after === undefined) return before === undefined ? [] : [line(before.name, "deleted", "bad")];
  const changes = changesOf(before, after);
  return [...(changes.length === 0 ? [] : [line(after.name, changes.join("; "), "plain")]), ...taintOf(before, after)];
}

function changesOf(before: NodeView | undefined, after: NodeView): readonly string[] {
  const kind = after.instanceType === "" ? "" : `, instance type ${after.instanceType}`;
  return [
    ...(before === undefined
      ? [`registered${after.isTainted ? " with the uninitialized taint: pods cannot be scheduled" : ""}`]
      : []),
    ...(isChanged(before?.providerId, after.providerId) ? [`provider ID ${after.providerId}`] : []),
    ...(isChanged(before?.zone, after.zone) ? [`zone ${after.zone}${kind}`] : []),
    ...(isChanged(cloudAddresses(before), cloudAddresses(after)) ? [cloudAddresses(after)] : []),
  ];
}

function isChanged(before: string | undefined, after: string): boolean {
  return after !== "" && after !== before;
}

/** Without the host name, which comes from the kubelet. */
function cloudAddresses(node: NodeView | undefined): string {
  return (node?.addresses ?? []).filter((address) => !address.startsWith("Hostname ")).join(", ");
}

function taintOf(before: NodeView | undefined, after: NodeView): readonly Line[] {
  if (before === undefined || before.isTainted === after.isTainted) return [];
  if (after.isTainted) return [line(after.name, "tainted again", "bad")];
  return [line(after.name, "taint removed: pods can be scheduled", "good")];
}

/** Describes how a Service of type LoadBalancer changed; other types give no lines. */
export function describeServiceChange(
  before: ServiceView | undefined,
  after: ServiceView | undefined,
): readonly Line[] {
  if (after === undefined) return before?.type === "LoadBalancer" ? [line(before.key, "deleted", "plain")] : [];
  if (after.type !== "LoadBalancer") {
    return before?.type === "LoadBalancer" ? [line(after.key, `changed to type ${after.type}`, "plain")] : [];
  }
  const lines: Line[] = [];
  if (before?.type !== "LoadBalancer")
    lines.push(line(after.key, "type LoadBalancer, waiting for an address", "plain"));
  const [address] = after.addresses;
  if (after.addresses.join() !== (before?.addresses ?? []).join()) {
    const text = address === undefined ? "address removed" : `address ${after.addresses.join(", ")}`;
    lines.push(line(after.key, text, address === undefined ? "bad" : "good"));
  }
  return lines;
}

/** An event's reason and message. */
export function describeEvent({ subject, reason, message, isWarning }: EventView): Line {
  return line(subject, `${reason}: ${message}`, isWarning ? "bad" : "quiet");
}

function line(subject: string, text: string, tone: Line["tone"]): Line {
  return { subject, text, tone };
}
