import type { IncomingMessage } from "node:http";
import type { Credentials } from "./kube-api.ts";

/** A connection to the endpoints of one controller. */
export interface Connection {
  /** For messages: `https://10.0.0.7:10258`, or `pod kube-system/ccm-0 through https://10.0.0.1:6443`. */
  readonly description: string;
  /** Timeout for the start of a response and for pauses in it, unless a request has its own. */
  readonly timeoutMs: number;
  /** Resolves with a response of any status, which the caller must read to the end. Rejects with a CommandError without a response. */
  readonly get: (path: string, sending?: Sending) => Promise<IncomingMessage>;
  readonly close: () => Promise<void>;
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Timeout for the start of the response. */
  readonly timeoutMs?: number;
}

/** Options of direct connections and of connections through the API server. */
export interface RequestChoice {
  /** PEM; undefined: the default of the kind of connection. */
  readonly ca: string | undefined;
  readonly servername: string | undefined;
  /** Timeout for the start of a response and for pauses in it. */
  readonly timeoutMs: number;
  /** Cancels pending requests. */
  readonly ending: AbortSignal;
}

/** The signal that cancels one request. */
export function signalOf({ ending }: Pick<RequestChoice, "ending">, own: AbortSignal | undefined): AbortSignal {
  return own === undefined ? ending : AbortSignal.any([ending, own]);
}

/** Headers of every request to a controller. */
export function headersOf({ token }: Credentials): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
