import { request } from "node:https";
import { createServer } from "node:net";

/** What a caller presents; nothing: it is anonymous. */
export interface Credentials {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Page {
  readonly status: number;
  readonly text: string;
}

/** What is done with a page. */
export interface Sending {
  /** @default GET */
  readonly method?: "GET" | "PUT";
  readonly body?: string;
}

/** The page of the heap takes seconds, many on a busy machine. */
const TIMEOUT_MS = 60_000;

/** One page over a connection of its own. Whose certificate the server shows is another test's business. */
export function fetchPage(
  port: number,
  path: string,
  credentials: Credentials = {},
  { method = "GET", body }: Sending = {},
): Promise<Page> {
  const { token, certificate, key, headers = {} } = credentials;
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  const outgoing = request(
    {
      host: "127.0.0.1",
      port,
      path,
      method,
      agent: false,
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    },
    (incoming) => {
      let text = "";
      incoming.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
      incoming.once("error", reject);
    },
  );
  outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer from ${path} within ${TIMEOUT_MS} ms`)));
  outgoing.once("error", reject);
  outgoing.end(body);
  return promise;
}

/** A port that no one listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}
