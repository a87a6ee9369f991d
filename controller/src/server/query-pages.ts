import type { FastifyInstance } from "fastify";
import { isRecord } from "../util/json.ts";
import { sendJsonText, sendText } from "./endpoints.ts";

/** Of a request; what is given more than once counts by its last. */
export type Query = Readonly<Record<string, string>>;

export type QueryAnswer =
  /** JSON as text, so that whoever has it ready need not make it again. */
  | { readonly kind: "json"; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  /** The question is wrong. */
  | { readonly kind: "problem"; readonly problems: readonly string[] }
  | { readonly kind: "unavailable"; readonly why: string };

/** A page of JSON that is asked for with a question. */
export function serveQuery(
  server: FastifyInstance,
  path: string,
  answer: (query: Query) => Promise<QueryAnswer>,
): void {
  server.get(path, async (request, reply) => {
    const answered = await answer(queryOf(request.query));
    switch (answered.kind) {
      case "json":
        return sendJsonText(reply.headers(answered.headers ?? {}), answered.text);
      case "problem":
        return sendText(reply, 400, answered.problems.map((problem) => `${problem}\n`).join(""));
      case "unavailable":
        return sendText(reply, 503, `${answered.why}\n`);
      default:
        return answered satisfies never;
    }
  });
}

function queryOf(query: unknown): Query {
  if (!isRecord(query)) return {};
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}
