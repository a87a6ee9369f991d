import { describe, expect, test } from "vitest";
import type { ProgramEnvironment } from "@cloudwire/provider-sdk/program";
import { parseOptions } from "./options.ts";

const id = "0123456789abcdef0123456789abcdef";
const least = ["--auth-url", "http://keystone/v3", "--application-credential-id", id, "--region", "one"];
const uuid = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const secret = { OS_APPLICATION_CREDENTIAL_SECRET: "word" };
const defaults = {
  endpoint: undefined,
  authUrl: "http://keystone/v3",
  applicationCredentialId: id,
  readSecret: expect.any(Function),
  region: "one",
  endpointInterface: "public",
  regionInIds: false,
  internalNetworks: [],
  publicNetworks: [],
  ipFamilies: ["IPv4"],
  watchIntervalMs: 60_000,
  loadBalancers: undefined,
  routes: undefined,
  callRate: { cloudCallsPerSecond: 10, burst: 50 },
};

const options = (argv: readonly string[], env: ProgramEnvironment = {}) =>
  parseOptions([...least, ...argv], { ...secret, ...env });

describe("parseOptions()", () => {
  test.each([
    [[], {}],
    [["--interface", "internalURL"], { endpointInterface: "internal" }],
    [["--region-in-provider-ids", "true"], { regionInIds: true }],
    [["--node-network", "a", "--node-network", "b"], { internalNetworks: ["a", "b"] }],
    [["--public-network", "edge"], { publicNetworks: ["edge"] }],
    [["--node-ip-family", "IPv6", "--node-ip-family", "IPv4"], { ipFamilies: ["IPv6", "IPv4"] }],
    [["--call-rate", "2.5:7"], { callRate: { cloudCallsPerSecond: 2.5, burst: 7 } }],
    [["--watch-interval", "10"], { watchIntervalMs: 10_000 }],
    [
      ["--load-balancer-subnet", uuid, "--floating-network", uuid, "--load-balancer-provider", "ovn"],
      { loadBalancers: { vipSubnetId: uuid, floatingNetworkId: uuid, octaviaProvider: "ovn" } },
    ],
    [
      ["--router", uuid, "--pod-cidr", "10.0.0.0/8", "--route-quota", "99"],
      { routes: { routerId: uuid, podCidrs: ["10.0.0.0/8"], quota: 99 } },
    ],
    [["--endpoint", "unix:///x.sock"], { endpoint: "unix:///x.sock" }],
  ])("reads %j", (argv, expected) => {
    expect(options(argv)).toMatchObject({ kind: "settings", settings: { ...defaults, ...expected } });
  });

  test("reads the environment where the command line says nothing", () => {
    const env = { ...secret, OS_AUTH_URL: "https://k", OS_APPLICATION_CREDENTIAL_ID: id, OS_REGION_NAME: "two" };
    expect(parseOptions([], { ...env, OS_INTERFACE: "admin" })).toMatchObject({
      settings: { authUrl: "https://k", region: "two", endpointInterface: "admin" },
    });
  });

  test("reports all problems with their fixes", () => {
    expect(parseOptions(["--auth-url", "x", "--watch-interval", "1", "--call-rate", "0:1"], {})).toEqual({
      kind: "problems",
      problems: [
        "--auth-url x: must be the URL of Keystone, such as https://cloud.example.com:5000",
        "--application-credential-id is missing: give its id, 32 hex digits, or set OS_APPLICATION_CREDENTIAL_ID",
        "the secret of the application credential is missing: set OS_APPLICATION_CREDENTIAL_SECRET, or give --application-credential-secret-file",
        "--region is missing: give a region such as RegionOne, or set OS_REGION_NAME",
        "--watch-interval 1: must be a whole number, 10 to 3600",
        "--call-rate 0:1: must be requests a second and how many at once, such as 10:50",
      ],
    });
  });

  test("refuses parts of load balancers without the whole", () => {
    expect(options(["--floating-network", uuid])).toMatchObject({
      problems: ["--member-subnet, --floating-network and --load-balancer-provider need --load-balancer-subnet"],
    });
  });

  test("refuses what it does not know", () => {
    expect(options(["--nonsense"])).toMatchObject({ problems: [expect.stringContaining("--help lists all options")] });
  });

  test("offers help", () => {
    expect(parseOptions(["--help"], {})).toEqual({ kind: "help" });
  });
});
