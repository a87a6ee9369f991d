import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parameterOf, sendText } from "./endpoints.ts";

export interface Asset {
  /** Path below the page's path; "" is the page itself. */
  readonly name: string;
  readonly file: URL;
  readonly type: string;
}

export interface PageAssets {
  /** Without a trailing slash. */
  readonly path: string;
  readonly assets: readonly Asset[];
  /** Response when a file is missing: how to build it. */
  readonly missing: string;
}

/** The page runs and loads only its own files, and cannot be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // No name of a cluster's object can become markup or script.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Revalidated each time: the next request may reach a replica of another version.
  "cache-control": "private, no-cache",
};

export function servePage(server: FastifyInstance, { path, assets, missing }: PageAssets): void {
  // Relative: a proxy may have added a prefix to the path.
  server.get(path, (_request, reply) =>
    reply.headers(HEADERS).redirect(`${path.slice(path.lastIndexOf("/") + 1)}/`, 308),
  );
  const byName = new Map(assets.map((asset) => [asset.name, asset]));
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    void reply.headers(HEADERS);
    const name = parameterOf(request.params, "file");
    const asset = byName.get(name);
    if (asset === undefined) return sendText(reply, 404, `no file ${name}\n`);
    return sendAsset(asset, missing, request, reply);
  };
  server.get(`${path}/`, serve);
  server.get(`${path}/:file`, serve);
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
  return matches(request.headers["if-none-match"], tag) ? reply.code(304).send() : reply.type(type).send(body);
}

/** undefined: the file does not exist. */
function contentOf(file: URL): Promise<Buffer | undefined> {
  return readFile(file).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** If-None-Match with weak comparison: RFC 9110, section 13.1.2. */
function matches(condition: string | undefined, tag: string): boolean {
  return (condition ?? "").split(",").some((text) => text.trim().replace(/^W\//, "") === tag);
}
