import type { SpanStart } from "../telemetry/tracing.ts";
import type { HttpRequest } from "./transport.ts";

/** A call to the API server, tries again included. Names: OpenTelemetry's semantic conventions for HTTP clients 1.38. */
export function callSpan(
  { method, path }: Pick<HttpRequest, "method" | "path">,
  plural: string,
  host: string,
): SpanStart {
  const server = new URL(`http://${host}`);
  return {
    name: `${method} ${plural}`,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": server.hostname,
      "server.port": server.port === "" ? undefined : Number(server.port),
      // Without the query: it says nothing of the object, and is long.
      "url.path": path.split("?", 1)[0],
    },
  };
}
