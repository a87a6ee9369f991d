import { request } from "node:https";
import type { KeyPair } from "./credentials/certificates.ts";
import { parseJson } from "./json.ts";

export interface ApiClient {
  readonly server: string;
  readonly caPem: string;
  readonly client: KeyPair;
}

export interface ApiAnswer {
  /** HTTP status; undefined when there was no answer at all. */
  readonly status: number | undefined;
  readonly body: string;
}

/** Bounds one request while the harness waits for a server that may hang. */
const timeoutMs = 2_000;

/** One GET. That no one answers (yet) is an answer here, as this is for waiting. */
export function get(api: ApiClient, path: string): Promise<ApiAnswer> {
  const { promise, resolve } = Promise.withResolvers<ApiAnswer>();
  const nothing = () => resolve({ status: undefined, body: "" });
  const outgoing = request(
    `${api.server}${path}`,
    // No agent: a pooled connection would be a broken one after each restart of the server.
    { ca: api.caPem, cert: api.client.certificate, key: api.client.key, agent: false, timeout: timeoutMs },
    (incoming) => {
      const parts: string[] = [];
      incoming.setEncoding("utf8").on("data", (part: string) => parts.push(part));
      incoming.once("end", () => resolve({ status: incoming.statusCode, body: parts.join("") }));
      incoming.once("error", nothing);
    },
  );
  outgoing.once("timeout", () => outgoing.destroy());
  outgoing.once("error", nothing);
  outgoing.once("close", nothing);
  outgoing.end();
  return promise;
}

/** The object at `path`, or undefined while the server does not give one. */
export async function getObject(api: ApiClient, path: string): Promise<unknown> {
  const answer = await get(api, path);
  return answer.status === 200 ? parseJson(answer.body, path) : undefined;
}
