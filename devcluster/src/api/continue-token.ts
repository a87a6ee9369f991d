import { badRequest } from "../api-error.ts";
import { isJsonObject } from "../json.ts";

/** Where a list goes on. */
export interface ContinueToken {
  /** Revision of the whole list; -1 for whatever is current. */
  readonly revision: number;
  /** The first key not yet sent is after this one. */
  readonly lastKey: string;
}

const version = "meta.k8s.io/v1";

/** The token as clients carry it, in the form of the real server. */
export function formatContinueToken({ revision, lastKey }: ContinueToken): string {
  // The real server names the key that follows: the last one and a zero byte.
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start: `/${lastKey}\0` })).toString("base64url");
}

/** Reads a token; throws ApiError 400 on anything else. */
export function parseContinueToken(text: string): ContinueToken {
  const invalid = (why: string): Error => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let token: unknown;
  try {
    token = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : "no JSON");
  }
  if (!isJsonObject(token) || token["v"] !== version) throw invalid("incorrect encoded version");
  const { rv, start } = token;
  if (typeof rv !== "number" || typeof start !== "string" || start === "") throw invalid("encoded start is empty");
  return { revision: rv, lastKey: start.replace(/^\//, "").replace(/\0$/, "") };
}
