import { expect, test } from "vitest";
import { parseFlags } from "../options/flags.ts";
import { sidecarEnvPrefix, sidecarFlags, toSidecarOptions } from "./sidecar-flags.ts";

function parse(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const parsed = parseFlags(sidecarFlags, { argv, env, envPrefix: sidecarEnvPrefix });
  return parsed.kind === "values" ? toSidecarOptions(parsed.values) : parsed;
}

test("toSidecarOptions() takes flags before the environment", () => {
  const env = { CLOUD_PROVIDER_ENDPOINT: "unix:///a.sock", SIMCLOUD_URL: "http://a", SIMCLOUD_API_KEY_FILE: "/key" };
  expect(
    parse(
      [
        "--cloud-url=http://b:1",
        "--call-timeout-ms=5",
        "--in-tree-plugin=kubernetes.io/cinder",
        "--cloud-call-rate=20",
        "--max-concurrent-changes=10",
        "--min-resync-interval-ms=5000",
      ],
      env,
    ),
  ).toEqual({
    kind: "options",
    options: {
      endpoint: "unix:///a.sock",
      cloudUrl: "http://b:1",
      key: { kind: "file", path: "/key" },
      callTimeoutMs: 5,
      brand: undefined,
      inTreePlugins: ["kubernetes.io/cinder"],
      callRate: { cloudCallsPerSecond: 20 },
      maxConcurrentChanges: 10,
      minResyncIntervalMs: 5000,
    },
  });
});

test("toSidecarOptions() leaves out what has its default elsewhere", () => {
  expect(parse(["--api-key=secret"])).toEqual({
    kind: "options",
    options: {
      endpoint: undefined,
      cloudUrl: "http://127.0.0.1:7070",
      key: { kind: "text", text: "secret" },
      callTimeoutMs: 10_000,
      brand: undefined,
      inTreePlugins: [],
      callRate: undefined,
      maxConcurrentChanges: undefined,
      minResyncIntervalMs: undefined,
    },
  });
});

test("toSidecarOptions() collects everything that is wrong", () => {
  const wrong = [
    "--call-timeout-ms=0",
    "--max-concurrent-changes=1001",
    "--brand=The West",
    "--cloud-call-rate=0:5",
    "--min-resync-interval-ms=0",
  ];
  expect(parse(["--cloud-url=b", ...wrong])).toEqual({
    kind: "problems",
    problems: [
      "--cloud-url b: must be a URL, such as http://127.0.0.1:7070",
      "--call-timeout-ms 0: must be a whole number of milliseconds, 1 to 600000",
      "--min-resync-interval-ms 0: must be a whole number of milliseconds, 1 to 3600000",
      "--max-concurrent-changes 1001: must be a whole number, 1 to 1000",
      "--brand The West: must be a word of lower case letters and digits, such as west",
      "--cloud-call-rate 0:5: must be requests per second and burst, such as 20:40",
      "give either --api-key-file or --api-key, the key of an account of the simulated cloud",
    ],
  });
});
