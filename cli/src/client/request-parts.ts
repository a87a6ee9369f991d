import type { Credentials } from "./credentials.ts";

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
