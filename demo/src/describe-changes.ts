import type { EventView, NodeView, ServiceView } from "./cluster/views.ts";

/** One line of the demo's story. */
export interface Line {
  /** Whom it is about: a process, a node, a Service. */
  readonly subject: string;
  readonly text: string;
  readonly tone: "plain" | "good" | "bad" | "quiet";
}

/** What changed of a Node, in words; undefined stands for "is not there". */
export function narrateNode(before: NodeView | undefined, after: NodeView | undefined): readonly Line[] {
  if (after === undefined) return before === undefined ? [] : [line(before.name, "is gone", "bad")];
  const facts = factsOf(before, after);
  return [...(facts.length === 0 ? [] : [line(after.name, facts.join("; "), "plain")]), ...taintOf(before, after)];
}

function factsOf(before: NodeView | undefined, after: NodeView): readonly string[] {
  const kind = after.instanceType === "" ? "" : `, a ${after.instanceType}`;
  return [
    ...(before === undefined ? [`registered${after.isTainted ? ", tainted: nothing may run on it yet" : ""}`] : []),
    ...(isNews(before?.providerId, after.providerId) ? [`is ${after.providerId}`] : []),
    ...(isNews(before?.zone, after.zone) ? [`is in zone ${after.zone}${kind}`] : []),
    ...(isNews(cloudAddresses(before), cloudAddresses(after)) ? [`has ${cloudAddresses(after)}`] : []),
  ];
}

function isNews(before: string | undefined, after: string): boolean {
  return after !== "" && after !== before;
}

/** A kubelet alone knows its host name only; that is not news. */
function cloudAddresses(node: NodeView | undefined): string {
  return (node?.addresses ?? []).filter((address) => !address.startsWith("Hostname ")).join(", ");
}

function taintOf(before: NodeView | undefined, after: NodeView): readonly Line[] {
  if (before === undefined || before.isTainted === after.isTainted) return [];
  if (after.isTainted) return [line(after.name, "tainted again", "bad")];
  return [line(after.name, "taint lifted: pods may run on it", "good")];
}

/** What changed of a Service of type LoadBalancer; of others there is nothing to tell. */
export function narrateService(before: ServiceView | undefined, after: ServiceView | undefined): readonly Line[] {
  if (after === undefined) return before?.type === "LoadBalancer" ? [line(before.key, "is gone", "plain")] : [];
  if (after.type !== "LoadBalancer") {
    return before?.type === "LoadBalancer" ? [line(after.key, `is of type ${after.type} now`, "plain")] : [];
  }
  const lines: Line[] = [];
  if (before?.type !== "LoadBalancer")
    lines.push(line(after.key, "is of type LoadBalancer: waits for an address", "plain"));
  const [address] = after.addresses;
  if (after.addresses.join() !== (before?.addresses ?? []).join()) {
    const text = address === undefined ? "lost its address" : `has address ${after.addresses.join(", ")}`;
    lines.push(line(after.key, text, address === undefined ? "bad" : "good"));
  }
  return lines;
}

/** An event as the controller wrote it. */
export function narrateEvent({ subject, reason, message, isWarning }: EventView): Line {
  return line(subject, `${reason}: ${message}`, isWarning ? "bad" : "quiet");
}

function line(subject: string, text: string, tone: Line["tone"]): Line {
  return { subject, text, tone };
}
