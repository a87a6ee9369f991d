import { isRecord, stringField, stringsField } from "../util/json.ts";

/** One provider as one replica finds it. */
export interface ProviderUse {
  readonly name: string;
  readonly isUsable: boolean;
  /** For how long it has been so, without a break. */
  readonly forMs: number;
  /** Since when, by the wall clock. */
  readonly sinceMs: number;
}

/** A leader's wish to be replaced. */
export interface Wanted {
  /** Identity of the leader; the wish of a process that leads no more counts for nothing. */
  readonly leader: string;
  /** RFC 3339. For people. */
  readonly since: string;
  /** Providers it could not use for longer than the bound. */
  readonly lost: readonly string[];
  /** Providers that it can use, and that a successor must be able to use, too. */
  readonly usable: readonly string[];
}

/** The answer of a replica that can do better. */
export interface Offered {
  readonly identity: string;
  /** Whose wish it answers. */
  readonly leader: string;
}

export type LeaderDecision =
  | { readonly kind: "stay" }
  /** It leads on, and says what it lacks. */
  | { readonly kind: "ask"; readonly wanted: Wanted }
  | { readonly kind: "yield"; readonly wanted: Wanted; readonly successor: string };

export interface LeaderView {
  readonly identity: string;
  readonly providers: readonly ProviderUse[];
  readonly offered: Offered | undefined;
  /** How long it leads on without a provider before it asks. 0: for ever. */
  readonly timeoutMs: number;
}

/** Whether a leader stays. Nobody is made way for but a replica that has said it can use more. */
export function decideAsLeader({ identity, providers, offered, timeoutMs }: LeaderView): LeaderDecision {
  const lost = providers.filter(({ isUsable, forMs }) => !isUsable && forMs >= timeoutMs);
  if (timeoutMs === 0 || lost.length === 0) return { kind: "stay" };
  const wanted: Wanted = {
    leader: identity,
    since: new Date(Math.min(...lost.map(({ sinceMs }) => sinceMs))).toISOString(),
    lost: namesOf(lost),
    usable: namesOf(providers.filter(({ isUsable }) => isUsable)),
  };
  if (offered === undefined || offered.leader !== identity) return { kind: "ask", wanted };
  return { kind: "yield", wanted, successor: offered.identity };
}

export interface StandbyView {
  readonly identity: string;
  /** Of the lease. */
  readonly holder: string;
  readonly wanted: Wanted | undefined;
  readonly offered: Offered | undefined;
  readonly providers: readonly ProviderUse[];
  /** Its caches are full: it can go on where the leader stops. */
  readonly isWarm: boolean;
  /** How long a provider must have been usable to count. */
  readonly steadyMs: number;
}

/**
 * Whether a standby offers to lead: it must be able to use all that the leader can use and something that the leader has lost.
 * More of the same set each time, so that no two replicas can find each other better.
 */
export function decideAsStandby(view: StandbyView): Offered | undefined {
  const { identity, holder, wanted, offered, providers, isWarm, steadyMs } = view;
  if (!isWarm || wanted === undefined || wanted.leader !== holder || offered?.leader === holder) return undefined;
  const usable = new Set(namesOf(providers.filter(({ isUsable, forMs }) => isUsable && forMs >= steadyMs)));
  const isBetter = wanted.usable.every((name) => usable.has(name)) && wanted.lost.some((name) => usable.has(name));
  return isBetter ? { identity, leader: holder } : undefined;
}

/** undefined: there is none, or none that can be read. */
export function parseWanted(text: string | undefined): Wanted | undefined {
  return parsed(text, (record) => ({
    leader: stringField(record, "leader"),
    since: stringField(record, "since"),
    lost: stringsField(record, "lost"),
    usable: stringsField(record, "usable"),
  }));
}

/** undefined: there is none, or none that can be read. */
export function parseOffered(text: string | undefined): Offered | undefined {
  return parsed(text, (record) => ({
    identity: stringField(record, "identity"),
    leader: stringField(record, "leader"),
  }));
}

/** An annotation that anybody may have written is no reason to fail. */
function parsed<T>(text: string | undefined, read: (record: Readonly<Record<string, unknown>>) => T): T | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return isRecord(value) ? read(value) : undefined;
  } catch {
    return undefined;
  }
}

function namesOf(providers: readonly ProviderUse[]): readonly string[] {
  return providers.map(({ name }) => name);
}
