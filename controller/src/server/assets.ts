import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parameterOf, sendText } from "./endpoints.ts";

/** One file of a page. */
export interface Asset {
  /** As it is asked for, below the page's path; "" is the page itself. */
  readonly name: string;
  readonly file: URL;
  readonly type: string;
}

export interface PageAssets {
  /** Without a slash at its end. */
  readonly path: string;
  readonly assets: readonly Asset[];
  /** Said where a file is not there: how it comes to be. */
  readonly missing: string;
}

/** Nothing but what comes from here runs, nothing is asked elsewhere, and nobody puts the page in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // No text becomes markup or script, whatever a cluster's objects are called.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Kept, and asked about each time: a replica of another version may answer next.
  "cache-control": "private, no-cache",
};

/** Serves files as they are when they are asked for. */
export function servePage(server: FastifyInstance, { path, assets, missing }: PageAssets): void {
  // Relative: what is in front of this server may have put a prefix before its paths.
  server.get(path, (_request, reply) =>
    reply.headers(HEADERS).redirect(`${path.slice(path.lastIndexOf("/") + 1)}/`, 308),
  );
  const byName = new Map(assets.map((asset) => [asset.name, asset]));
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    void reply.headers(HEADERS);
    const name = parameterOf(request.params, "file");
    const asset = byName.get(name);
    if (asset === undefined) return sendText(reply, 404, `the page has no ${name}\n`);
    return sendAsset(asset, missing, request, reply);
  };
  server.get(`${path}/`, answer);
  server.get(`${path}/:file`, answer);
}

async function sendAsset(
  { file, type }: Asset,
  missing: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = await contentOf(file);
  if (body === undefined) return sendText(reply, 404, `${missing}\n`);
  const tag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  void reply.header("etag", tag);
  return holds(request.headers["if-none-match"], tag) ? reply.code(304).send() : reply.type(type).send(body);
}

/** undefined: there is no such file. */
async function contentOf(file: URL): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** RFC 9110, section 13.1.2: compared weakly. */
function holds(condition: string | undefined, tag: string): boolean {
  return (condition ?? "").split(",").some((text) => text.trim().replace(/^W\//, "") === tag);
}
