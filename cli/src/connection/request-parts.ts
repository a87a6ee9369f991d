import type { Credentials } from "./credentials.ts";

export interface TlsChoice {
  /** PEM; undefined: the default of the way. */
  readonly ca: string | undefined;
  readonly servername: string | undefined;
  /** How long an answer may take to begin. */
  readonly timeoutMs: number;
}

/** Headers of every request to a controller. */
export function headersOf({ token }: Credentials): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
