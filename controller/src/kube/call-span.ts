import type { SpanStart } from "../telemetry/tracing.ts";
import type { HttpRequest } from "./connection/transport.ts";

/** A call to the API server, tries again included. Names: OpenTelemetry's semantic conventions for HTTP clients 1.38. */
export function callSpan(
  { method, path }: Pick<HttpRequest, "method" | "path">,
  plural: string,
  origin: string,
): SpanStart {
  const { hostname, port } = new URL(origin);
  return {
    name: `${method} ${plural}`,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": port === "" ? undefined : Number(port),
      // Without the query: it says nothing of the object, and is long.
      "url.full": `${origin}${path.split("?", 1)[0]}`,
    },
  };
}
