import { Agent } from "node:https";
import { CommandError, messageOf, UsageError } from "../errors.ts";
import { type Connection, type RequestChoice, headersOf, signalOf } from "./connection.ts";
import type { Credentials } from "./kube-api.ts";
import { send, certificateProblem } from "./send.ts";

export interface DirectDependencies extends RequestChoice {
  /** Of --server. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly skipsVerification: boolean;
}

/** A controller at an address. */
export function directConnection({ server, credentials, skipsVerification, ...tls }: DirectDependencies): Connection {
  const base = addressOf(server, credentials);
  const { certificate, key } = credentials;
  const agent = new Agent({
    keepAlive: true,
    rejectUnauthorized: !skipsVerification,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.servername === undefined ? {} : { servername: tls.servername }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  });
  const options = base.protocol === "https:" ? { agent } : {};
  return {
    description: base.origin,
    timeoutMs: tls.timeoutMs,
    get: async (path, { headers = {}, signal, timeoutMs = tls.timeoutMs } = {}) => {
      const request = {
        method: "GET",
        headers: { ...headersOf(credentials), ...headers },
        options,
        signal: signalOf(tls, signal),
        timeoutMs,
      } as const;
      try {
        return await send({ ...request, url: new URL(path, base) });
      } catch (error) {
        throw unreachable(base.origin, error);
      }
    },
    close: async () => agent.destroy(),
  };
}

/** Without TLS, anyone on the network path could read the token. */
function addressOf(server: string, { token }: Credentials): URL {
  const url = URL.parse(server);
  // A path or credentials in the URL would be ignored.
  if (url === null || !["https:", "http:"].includes(url.protocol) || url.href !== `${url.origin}/`)
    throw new UsageError([`invalid --server ${server}; use an address such as https://10.0.0.7:10258`]);
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && token !== undefined && !isLoopback)
    throw new UsageError([`invalid --server ${server}: a token must not be sent without TLS; use an https:// address`]);
  return url;
}

function unreachable(origin: string, error: unknown): CommandError {
  const untrusted = certificateProblem(error);
  const advice =
    untrusted === undefined
      ? "check that it runs, and that --server has its --secure-port"
      : "specify its CA with --certificate-authority and its name with --tls-server-name, or skip the verification with --insecure-skip-tls-verify";
  return new CommandError(
    "CONTROLLER_UNREACHABLE",
    `cannot reach the controller at ${origin}: ${untrusted ?? messageOf(error)}; ${advice}`,
    { cause: error },
  );
}
