import { type LogLevel, parseLogLevel } from "../../telemetry/log.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import { type HttpAddress, parseHttpAddress } from "./http-port.ts";
import type { TransportSecurity } from "./server-credentials.ts";

/** The settings of serving that a process reads from its environment. */
export interface ServeSettings extends TransportSecurity {
  readonly endpoint: Endpoint | undefined;
  readonly logLevel: LogLevel;
  readonly socketGroup: string | undefined;
  readonly httpAddress: HttpAddress | undefined;
  /** Every problem, each with how to fix it. */
  readonly problems: readonly string[];
}

/** Reads the variables with prefix `CLOUD_PROVIDER_`. Others of that prefix are left alone: Kubernetes makes some. */
export const readEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  given: { readonly endpoint?: string | undefined; readonly httpAddress?: string | undefined },
): ServeSettings => {
  const parsed = parseEndpoint(given.endpoint ?? env["CLOUD_PROVIDER_ENDPOINT"]);
  const http = parseHttpAddress(given.httpAddress ?? env["CLOUD_PROVIDER_HTTP_ADDRESS"]);
  const level = env["CLOUD_PROVIDER_LOG_LEVEL"] || "info";
  const logLevel = parseLogLevel(level);
  const tls = readTls(env);
  const insecure = readFlag("CLOUD_PROVIDER_INSECURE_LOOPBACK", env);
  return {
    endpoint: parsed.kind === "endpoint" ? parsed.endpoint : undefined,
    logLevel: logLevel ?? "info",
    socketGroup: env["CLOUD_PROVIDER_SOCKET_GROUP"] || undefined,
    httpAddress: http.address,
    tls: tls.files,
    insecureLoopback: insecure.value,
    problems: [
      ...(parsed.kind === "problem" ? [parsed.problem] : []),
      ...(logLevel ? [] : [`CLOUD_PROVIDER_LOG_LEVEL is ${JSON.stringify(level)}; use debug, info, warn or error`]),
      ...(http.problem === undefined ? [] : [http.problem]),
      ...tls.problems,
      ...insecure.problems,
    ],
  };
};

const readTls = (env: Readonly<Record<string, string | undefined>>) => {
  const names = ["CLOUD_PROVIDER_TLS_CERT_FILE", "CLOUD_PROVIDER_TLS_KEY_FILE", "CLOUD_PROVIDER_TLS_CLIENT_CA_FILE"];
  const [certFile, keyFile, clientCaFile] = names.map((name) => env[name] || undefined);
  if (certFile && keyFile && clientCaFile) return { files: { certFile, keyFile, clientCaFile }, problems: [] };
  const missing = names.filter((name) => !env[name]);
  const some = missing.length < names.length;
  return { files: undefined, problems: some ? [`TLS needs ${missing.join(" and ")} too`] : [] };
};

const readFlag = (name: string, env: Readonly<Record<string, string | undefined>>) => {
  const text = env[name] || "false";
  if (text === "true" || text === "false") return { value: text === "true", problems: [] };
  return { value: false, problems: [`${name} is ${JSON.stringify(text)}; use true or false`] };
};
