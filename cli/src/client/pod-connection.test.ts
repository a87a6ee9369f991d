import { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import type { KubeApi } from "./kube-api.ts";
import { podConnection } from "./pod-connection.ts";

/** An API server that forwards ports to this stream, and is asked for nothing else. */
function forwardingTo(stream: Duplex | Promise<never>): KubeApi {
  const refuse = () => Promise.reject(new Error("not asked for"));
  return {
    server: "https://api",
    get: refuse,
    list: refuse,
    create: refuse,
    patch: refuse,
    credentials: refuse,
    portForward: async () => stream,
  };
}

test.each([
  ["with an error", new Error("connection refused"), "on port 10258: connection refused"],
  ["closed", undefined, "on port 10258: the connection was closed immediately"],
])("podConnection() reports why a forwarded port ended before it was used: %s", async (_what, error, message) => {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  stream.on("error", () => undefined);
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.destroy(error);
  await closed;
  const pod = { namespace: "kube-system", name: "ccm", port: 10258 };
  const tls = { ca: undefined, servername: undefined, timeoutMs: 5000, ending: new AbortController().signal };
  const connection = podConnection({ kube: forwardingTo(stream), pod, credentials: {}, ...tls });
  await expect(connection.get("/debug/overview")).rejects.toThrow(
    `the controller in pod kube-system/ccm does not respond ${message}`,
  );
});

describe("podConnection() to a port of which nothing comes", () => {
  const never = Promise.withResolvers<never>().promise;
  const silent = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const common = { pod: { namespace: "a", name: "b", port: 1 }, credentials: {}, ca: undefined, servername: undefined };

  test.each([
    ["a port that is never forwarded", never],
    ["a port without a TLS server", silent],
  ])("%s times out, and is aborted on shutdown", async (_what, stream) => {
    const stop = new AbortController();
    const connection = (timeoutMs: number) =>
      podConnection({ kube: forwardingTo(stream), ...common, timeoutMs, ending: stop.signal });
    await expect(connection(10).get("/")).rejects.toThrow("no response within 0.01 s");
    const asked = connection(60_000).get("/");
    stop.abort();
    await expect(asked).rejects.toThrow("the request was canceled");
  });
});
