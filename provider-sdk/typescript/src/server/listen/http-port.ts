import { createServer, type RequestListener, type Server } from "node:http";
import { ProviderStartError } from "../start-error.ts";

/** Where `/livez`, `/readyz` and `/metrics` are served. */
export interface HttpAddress {
  /** Empty: all addresses of the pod, as kubelets and Prometheus need. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** An address, or the problem with it. Both undefined: no address was given. */
export interface ParsedHttpAddress {
  readonly address?: HttpAddress;
  readonly problem?: string;
}

/** What the port serves. */
export interface HttpPortOptions {
  readonly address: HttpAddress;
  /** Why calls cannot be expected to work; undefined: they can. */
  readonly whyNotReady: () => string | undefined;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
}

/** A port that is being served. */
export interface HttpPort {
  /** `127.0.0.1:9102` */
  readonly address: string;
  readonly close: () => Promise<void>;
}

/** Probes and scrapes are small and come from near by. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 15_000,
  maxHeaderSize: 8_192,
} as const;

/** Reads `host:port`; `:port` is all addresses, `[::1]:port` IPv6. */
export const parseHttpAddress = (text: string | undefined): ParsedHttpAddress => {
  if (text === undefined || text === "") return {};
  const match = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:/[\]\s]*):(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.["port"]);
  const host = match?.groups?.["host"];
  if (host === undefined || port > 65_535)
    return { problem: `CLOUD_PROVIDER_HTTP_ADDRESS is ${JSON.stringify(text)}; use host:port, for example :9102` };
  return { address: { host: host.replace(/^\[|\]$/g, ""), port } };
};

/** Serves probes and metrics; throws {@link ProviderStartError} when it cannot listen on the port. */
export const serveHttp = async (options: HttpPortOptions): Promise<HttpPort> => {
  const server = createServer(limits, answer(options));
  const { host, port } = options.address;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(host, port, error)));
    server.listen({ port, ...(host === "" ? {} : { host }) }, resolve);
  });
  return { address: addressOf(server), close: () => close(server) };
};

const cannotListen = (host: string, port: number, error: Error): ProviderStartError =>
  new ProviderStartError(
    "ENDPOINT_UNAVAILABLE",
    [
      `cannot serve /livez, /readyz and /metrics on ${host}:${port}: ${error.message}; change CLOUD_PROVIDER_HTTP_ADDRESS`,
    ],
    error,
  );

const answer =
  (options: HttpPortOptions): RequestListener =>
  (request, response) => {
    const plain = (status: number, body: string, contentType = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(body);
    if (request.method !== "GET" && request.method !== "HEAD") return void plain(405, "use GET\n");
    switch (request.url?.replace(/\?.*$/, "")) {
      case "/livez":
        return void plain(200, "ok\n");
      case "/readyz": {
        const why = options.whyNotReady();
        return void plain(why === undefined ? 200 : 503, `${why ?? "ok"}\n`);
      }
      case "/metrics":
        return void options.metrics().then(
          ({ contentType, body }) => plain(200, body, contentType),
          () => plain(500, "the metrics cannot be read\n"),
        );
      default:
        return void plain(404, "there are /livez, /readyz and /metrics\n");
    }
  };

const addressOf = (server: Server): string => {
  const bound = server.address();
  if (bound === null || typeof bound === "string") return String(bound);
  return `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`;
};

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
