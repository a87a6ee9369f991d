/** Why a request is not approved: label of the metric. */
export type ObjectionReason = RequestObjection | MachineObjection;

/** What no time cures: a request never changes. */
export type RequestObjection =
  | "unreadable"
  | "weakKey"
  | "badSignature"
  | "wrongUsages"
  | "wrongSubject"
  | "notFromNode"
  | "unexpectedExtensions"
  | "wrongNames";

/** What may be otherwise the next time. */
export type MachineObjection =
  | "nodeMissing"
  | "machineUnknown"
  | "providerDoubted"
  | "machineNotOurs"
  | "machineAbsent"
  | "machineNotRunning"
  | "nodeNameUnconfirmed"
  | "addressUnknown"
  | "dnsNameUnknown";

/** One reason and a sentence for people; the first that was found. */
export interface Objection<Reason extends ObjectionReason = ObjectionReason> {
  readonly kind: "objection";
  readonly reason: Reason;
  readonly message: string;
}

export function objection<Reason extends ObjectionReason>(reason: Reason, message: string): Objection<Reason> {
  return { kind: "objection", reason, message };
}

/** Text that a stranger chose, for a sentence. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

const MAX_QUOTED = 80;

/** The first few of a list that a stranger chose. */
export function listed(texts: readonly string[]): string {
  const first = texts.slice(0, MAX_LISTED).map(quoted).join(", ");
  if (texts.length === 0) return "none";
  return texts.length > MAX_LISTED ? `${first} and ${texts.length - MAX_LISTED} more` : first;
}

const MAX_LISTED = 5;
