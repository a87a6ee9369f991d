import type { IncomingMessage } from "node:http";
import type { Credentials } from "./kube-api.ts";

/** A way to one controller's pages. */
export interface Connection {
  /** For messages: `https://10.0.0.7:10258`, or `pod kube-system/ccm-0 through https://10.0.0.1:6443`. */
  readonly description: string;
  /** How long an answer may take to begin, and to go on, where nothing else is said. */
  readonly timeoutMs: number;
  /** Rejects with a CommandError when there is no answer; an answer of any status is one. The caller reads it to its end. */
  readonly get: (path: string, sending?: Sending) => Promise<IncomingMessage>;
  readonly close: () => Promise<void>;
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long the answer may take to begin. */
  readonly timeoutMs?: number;
}

/** What the ways to a controller have in common. */
export interface RequestChoice {
  /** PEM; undefined: the default of the way. */
  readonly ca: string | undefined;
  readonly servername: string | undefined;
  /** How long an answer may take to begin, and to go on. */
  readonly timeoutMs: number;
  /** Breaks off what is asked. */
  readonly ending: AbortSignal;
}

/** What breaks off one request. */
export function signalOf({ ending }: Pick<RequestChoice, "ending">, own: AbortSignal | undefined): AbortSignal {
  return own === undefined ? ending : AbortSignal.any([ending, own]);
}

/** Headers of every request to a controller. */
export function headersOf({ token }: Credentials): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
