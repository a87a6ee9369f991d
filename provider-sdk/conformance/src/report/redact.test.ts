import { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { expect, test } from "vitest";
import { withoutIds } from "./redact.ts";
import type { Report } from "./report.ts";

const info = GetProviderInfoResponse.fromPartial({ scopeId: "account-4711", providerIdPrefixes: ["acme://"] });
const fixtures = {
  instance: { providerId: "acme://zone-1/i-1", nodeName: "web-17", zone: "z" },
  malformedIds: [],
  canarySecret: "hush-hush",
  testCloud: "http://127.0.0.1:1/",
};

const report = (repeat: string, got: string): Report => ({
  schemaVersion: 2,
  kit: { version: "0.1.0", contractMajor: 1 },
  runId: "r",
  startTime: "2026-11-22T00:00:00.000Z",
  elapsedMs: 1,
  target: { endpoint: "unix:///p.sock", command: ["./provider", "--account=account-4711"] },
  provider: { name: "p", version: "1", contractMajor: 1, contractMinor: 0, bootId: "b", capabilities: [], build: {} },
  level: "R",
  seed: 1,
  slowFactor: 1,
  profiles: [],
  results: [
    {
      id: "a.one",
      level: "R",
      profile: "core",
      title: "holds",
      rules: ["INF-1"],
      result: {
        kind: "fail",
        finding: {
          message: "wrong",
          got,
          exchange: {
            path: "/a/B",
            request: { ref: { name: "web-17", zone: "z" } },
            requestBytes: 1,
            headers: {},
            elapsedMs: 1,
            response: "OK",
          },
        },
      },
      elapsedMs: 1,
      repeat,
    },
  ],
});

test("withoutIds() replaces the account's ids everywhere, and nothing else", () => {
  const given = report(`grpcurl -d '{"scopeId":"account-4711"}'`, "acme://zone-1/i-1 and acme://i-99, not the zone");
  const shown = withoutIds(given, info, fixtures);
  expect(shown).toEqual({
    ...report(`grpcurl -d '{"scopeId":"<scope>"}'`, "<instance.providerId> and <provider id>, not the zone"),
    target: { endpoint: "unix:///p.sock", command: ["./provider", "--account=<scope>"] },
    results: [
      {
        ...shown.results[0],
        result: {
          kind: "fail",
          finding: expect.objectContaining({
            exchange: expect.objectContaining({
              request: { ref: { name: "<instance.nodeName>", zone: "<instance.zone>" } },
            }),
          }),
        },
      },
    ],
  });
  expect(JSON.stringify(shown)).not.toMatch(/4711|i-1|i-99|web-17/);
});
