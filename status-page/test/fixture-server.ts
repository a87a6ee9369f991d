import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type ObjectRef, type ObjectRow, PATHS, type StreamEvents } from "@cloudwire/operator-api";
import { buildPage } from "../scripts/build.ts";
import { type Cluster, createRandom, overviewOf, sampleOf } from "./clusters.ts";
import { explanationOf } from "./explanations.ts";

/** Serves the page and what it asks for, of a cluster that is made up. Speaks as operator-api says. */
export interface FixtureServer {
  /** Of the page. */
  readonly url: string;
  /** Sends the changed rows to every page. */
  readonly change: (set: readonly ObjectRow[], gone?: readonly ObjectRef[]) => void;
  /** @param at unless it is of now */
  readonly sendOverview: (at?: Date) => void;
  readonly sendSample: (at?: Date) => void;
  /** Ends all streams, and rejects new ones with this status until `restore`. */
  readonly cut: (status: number) => void;
  readonly restore: () => void;
  /** New streams are opened but send nothing until `restore`. */
  readonly fallSilent: () => void;
  /** To every page, as it is. */
  readonly sendText: (text: string) => void;
  /** Ends all streams, as a controller does after a while. */
  readonly endStreams: () => void;
  /** Streams that pages hold open. */
  readonly streams: () => number;
  readonly close: () => Promise<void>;
}

/** As the controller sends it: nothing from elsewhere, no inline script or style, no text made into markup. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

const ROWS_AT_ONCE = 500;

/** @param prefix what a proxy in front of it puts before its paths */
export async function startFixtureServer(cluster: Cluster, prefix = ""): Promise<FixtureServer> {
  const files = await buildPage();
  const random = createRandom(11);
  const streams = new Set<ServerResponse>();
  const silent = new Set<ServerResponse>();
  let refusal: number | undefined;
  let isSilent = false;
  const send = <K extends keyof StreamEvents>(to: Iterable<ServerResponse>, name: K, data: StreamEvents[K]): void => {
    for (const stream of to) stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const openStream = (request: IncomingMessage, response: ServerResponse): void => {
    if (refusal !== undefined) return answer(response, refusal, { message: "not now" });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.flushHeaders();
    streams.add(response);
    request.on("close", () => streams.delete(response));
    if (isSilent) silent.add(response);
    else sendAll(response);
    return undefined;
  };
  const sendAll = (response: ServerResponse): void => {
    const one = [response];
    send(one, "overview", overviewOf(cluster, random));
    const rows = [...cluster.rows.values()];
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      send(one, "rows", { set: rows.slice(from, from + ROWS_AT_ONCE), removed: [] });
    }
    send(one, "complete", { rows: rows.length });
  };
  const server = createServer((request, response) => {
    const asked = request.url ?? "/";
    if (!asked.startsWith(prefix))
      return answer(response, 404, { message: "that is the proxy's, not the controller's" });
    const url = new URL(asked.slice(prefix.length), "http://localhost");
    if (url.pathname === PATHS.stream) return openStream(request, response);
    if (url.pathname === PATHS.explain) {
      if (refusal !== undefined) return answer(response, refusal, { message: "not now" });
      const object = [...cluster.rows.keys()].find((known) => known === url.searchParams.get("object"));
      const explanation = object === undefined ? undefined : explanationOf(cluster, object);
      return explanation === undefined
        ? answer(response, 404, { message: "there is no such object" })
        : answer(response, 200, explanation);
    }
    return sendFile(response, files, url.pathname);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const endStreams = (): void => {
    for (const stream of streams) stream.end();
  };
  return {
    url: `http://127.0.0.1:${address.port}${prefix}${PATHS.page}/`,
    change: (set, removed = []) => {
      for (const object of removed) cluster.rows.delete(object);
      for (const row of set) cluster.rows.set(row.object, row);
      send(streams, "rows", { set, removed });
    },
    sendOverview: (at) => send(streams, "overview", overviewOf(cluster, random, at)),
    sendSample: (at) => send(streams, "sample", sampleOf(random, at)),
    cut: (status) => {
      refusal = status;
      endStreams();
    },
    restore: () => {
      refusal = undefined;
      isSilent = false;
      for (const response of silent) sendAll(response);
      silent.clear();
    },
    fallSilent: () => {
      isSilent = true;
    },
    sendText: (text) => {
      for (const stream of streams) stream.write(text);
    },
    endStreams,
    streams: () => streams.size,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function sendFile(response: ServerResponse, files: ReadonlyMap<string, Uint8Array>, path: string): void {
  const name = path === `${PATHS.page}/` ? "index.html" : path.slice(PATHS.page.length + 1);
  const bytes = files.get(name);
  if (bytes === undefined) return answer(response, 404, { message: "there is no such page" });
  response.writeHead(200, {
    "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
  });
  response.end(bytes);
  return undefined;
}
