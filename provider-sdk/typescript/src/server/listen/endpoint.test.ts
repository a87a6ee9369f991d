import { describe, expect, test } from "vitest";
import { isLoopback, parseEndpoint } from "./endpoint.ts";
import { readEnvironment } from "./environment.ts";

describe("parseEndpoint()", () => {
  test.each([
    ["unix:///run/p.sock", { kind: "unix", path: "/run/p.sock" }],
    ["unix:/run/p.sock", { kind: "unix", path: "/run/p.sock" }],
    [`unix:///${"x".repeat(101)}.sock`, { kind: "unix", path: `/${"x".repeat(101)}.sock` }],
    ["tcp://127.0.0.1:9443", { kind: "tcp", host: "127.0.0.1", port: 9_443 }],
    ["tcp://[::1]:0", { kind: "tcp", host: "::1", port: 0 }],
    ["tcp://provider.example.com:443", { kind: "tcp", host: "provider.example.com", port: 443 }],
  ])("reads %s", (text, endpoint) => {
    expect(parseEndpoint(text)).toEqual({ kind: "endpoint", endpoint });
  });

  test.each([
    [undefined, "is not set"],
    ["", "is not set"],
    ["unix:p.sock", "must be absolute"],
    ["unix://p.sock", "must be absolute"],
    ["unix:///run/p", "must end in a name.sock"],
    ["unix:///run/.sock", "must end in a name.sock"],
    [`unix:///${"x".repeat(102)}.sock`, "has 108 bytes, the system takes 107"],
    [`unix:///${"ü".repeat(60)}.sock`, "bytes, the system takes 107"],
    ["unix-abstract:p.sock", "abstract sockets"],
    ["unix:@p.sock", "abstract sockets"],
    ["unix:///run/\0p.sock", "abstract sockets"],
    ["tcp://127.0.0.1", "is not tcp://host:port"],
    ["tcp://127.0.0.1:70000", "is not tcp://host:port"],
    ["http://127.0.0.1:80", "is neither"],
    ["/run/p.sock", "is neither"],
  ])("refuses %j and says why", (text, problem) => {
    expect(parseEndpoint(text)).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
  });
});

describe("isLoopback()", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["localhost", true],
    ["0.0.0.0", false],
    ["::", false],
    ["127.evil.example.com", false],
  ])("answers %s: %j", (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback);
  });
});

describe("readEnvironment()", () => {
  const endpoint = { CLOUD_PROVIDER_ENDPOINT: "unix:///run/p.sock" };

  test("reads everything, and leaves variables alone that Kubernetes makes", () => {
    const env = {
      ...endpoint,
      CLOUD_PROVIDER_LOG_LEVEL: "debug",
      CLOUD_PROVIDER_SOCKET_GROUP: "1000",
      CLOUD_PROVIDER_TLS_CERT_FILE: "/c",
      CLOUD_PROVIDER_TLS_KEY_FILE: "/k",
      CLOUD_PROVIDER_TLS_CLIENT_CA_FILE: "/a",
      CLOUD_PROVIDER_INSECURE_LOOPBACK: "true",
      CLOUD_PROVIDER_HTTP_ADDRESS: ":9102",
      CLOUD_PROVIDER_SERVICE_HOST: "10.0.0.1",
    };
    expect(readEnvironment(env, {})).toEqual({
      endpoint: { kind: "unix", path: "/run/p.sock" },
      logLevel: "debug",
      socketGroup: "1000",
      tls: { certFile: "/c", keyFile: "/k", clientCaFile: "/a" },
      insecureLoopback: true,
      httpAddress: { host: "", port: 9102 },
      problems: [],
    });
  });

  test("reports all problems together", () => {
    const env = {
      CLOUD_PROVIDER_LOG_LEVEL: "loud",
      CLOUD_PROVIDER_TLS_CERT_FILE: "/c",
      CLOUD_PROVIDER_INSECURE_LOOPBACK: "yes",
      CLOUD_PROVIDER_HTTP_ADDRESS: "9102",
    };
    expect(readEnvironment(env, {}).problems).toEqual([
      expect.stringContaining("CLOUD_PROVIDER_ENDPOINT is not set"),
      'CLOUD_PROVIDER_LOG_LEVEL is "loud"; use debug, info, warn or error',
      'CLOUD_PROVIDER_HTTP_ADDRESS is "9102"; use host:port, for example :9102',
      "TLS needs CLOUD_PROVIDER_TLS_KEY_FILE and CLOUD_PROVIDER_TLS_CLIENT_CA_FILE too",
      'CLOUD_PROVIDER_INSECURE_LOOPBACK is "yes"; use true or false',
    ]);
  });

  test("takes the endpoint given over the environment's", () => {
    expect(readEnvironment(endpoint, { endpoint: "unix:///run/other.sock" }).endpoint).toEqual({
      kind: "unix",
      path: "/run/other.sock",
    });
  });
});
