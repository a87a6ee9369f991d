import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ProviderError } from "../results/errors.ts";

/** A place in a walk. */
export interface PagePosition {
  readonly walkId: string;
  readonly offset: number;
}

/** Makes and reads page tokens: opaque, signed, bound to the request that began the walk. */
export class PageTokens {
  readonly #key = randomBytes(32);

  /** `binding`: all of the request but page size and token. */
  sign(position: PagePosition, binding: string): string {
    const payload = `${position.walkId}.${position.offset}`;
    return `${payload}.${this.#signature(payload, binding).toString("base64url")}`;
  }

  /** Throws PAGE_TOKEN_INVALID for a token that is not one of this process for this request. */
  read(token: string, binding: string): PagePosition {
    const match = /^(?<walkId>[\w-]{1,64})\.(?<offset>\d{1,9})\.(?<signature>[\w-]{43})$/.exec(token);
    const { walkId, offset, signature } = match?.groups ?? {};
    if (walkId === undefined || offset === undefined || signature === undefined) throw pageTokenInvalid();
    const wanted = this.#signature(`${walkId}.${offset}`, binding);
    const given = Buffer.from(signature, "base64url");
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw pageTokenInvalid();
    return { walkId, offset: Number(offset) };
  }

  #signature(payload: string, binding: string): Buffer {
    return createHmac("sha256", this.#key).update(`${payload}\0${binding}`).digest();
  }
}

/** The refusal of a token, whatever is wrong with it. */
export const pageTokenInvalid = (): ProviderError =>
  new ProviderError(
    "PAGE_TOKEN_INVALID",
    "page_token is not one of this provider's, has expired, or belongs to another request; list from the first page",
    { field: "page_token" },
  );
