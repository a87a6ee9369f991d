import { describe, expect, test } from "vitest";
import { parseCommand } from "../app/options.ts";
import { type ProviderCallRate, type ProviderSelectors, providerFlags } from "./options.ts";

const REMOTE = "--provider=far=tcp://provider.example.com:9443";
const TLS = "--provider-tls=far=ca=/tls/ca.pem,cert=/tls/tls.crt,key=/tls/tls.key";

/** Every file is there but those in /nowhere. */
const readText = (path: string): string => {
  if (path.startsWith("/nowhere")) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
  return "";
};
const command = (...args: readonly string[]) => parseCommand({ args, environment: {}, readText }, new Set());
const problemsOf = (...args: readonly string[]): readonly string[] => {
  const parsed = command(...args);
  return parsed.kind === "invalid" ? parsed.problems.map(({ where, what }) => `${where}: ${what}`) : [];
};

describe("parseCommand() of providers at tcp:// addresses", () => {
  test.each([
    { args: [REMOTE, TLS] },
    { args: ["--provider=far=tcp://[2001:db8::1]:9443", `${TLS},server-name=provider.example.com`] },
    { args: ["--provider=far=tcp://10.0.0.7:9443", "--provider-plaintext=far"] },
    { args: ["--provider=near=unix:///run/a.sock", REMOTE, TLS] },
  ])("takes $args", ({ args }) => {
    expect(command(...args)).toMatchObject({ kind: "run" });
  });

  test.each([
    {
      args: [REMOTE],
      problem:
        "--provider: tcp://provider.example.com:9443 requires TLS: otherwise any host on the network path could change the cloud; add --provider-tls=far=ca=FILE,cert=FILE,key=FILE",
    },
    {
      args: ["--provider=far=unix:///run/a.sock", TLS],
      problem:
        '--provider-tls: provider "far" is at unix:///run/a.sock; a Unix socket has no TLS, its file permissions protect it: remove this',
    },
    {
      args: ["--provider=far=unix:///run/a.sock", "--provider-plaintext=far"],
      problem:
        '--provider-plaintext: provider "far" is at unix:///run/a.sock; a Unix socket has no TLS, its file permissions protect it: remove this',
    },
    {
      args: [REMOTE, TLS, "--provider-plaintext=far"],
      problem: '--provider-plaintext: provider "far" also has --provider-tls; remove one of them',
    },
    {
      args: [REMOTE, TLS, "--provider-plaintext=near"],
      problem: '--provider-plaintext: unknown provider "near"; --provider names far',
    },
    {
      args: [REMOTE, "--provider-tls=far=ca=/nowhere/ca.pem,cert=/tls/tls.crt,key=/tls/tls.key"],
      problem:
        "--provider-tls: ca= of provider \"far\" cannot be read: ENOENT: no such file or directory, open '/nowhere/ca.pem'",
    },
    {
      args: ["--provider=far=tcp://:9443", TLS],
      problem:
        '--provider: "tcp://:9443" is not tcp://host:port; write tcp://provider.example.com:9443 or tcp://[2001:db8::1]:9443',
    },
    {
      args: ["--provider=far=http://x:1", TLS],
      problem:
        '--provider: "http://x:1" is not a provider address; write unix:///path/to/provider.sock or tcp://host:port',
    },
    {
      args: [REMOTE, `${TLS},sni=x`],
      problem:
        '--provider-tls: "sni=x" is not one of ca=, cert=, key=, server-name=; write NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]',
    },
    {
      args: [REMOTE, "--provider-tls=far=ca=/tls/ca.pem"],
      problem:
        '--provider-tls: provider "far" lacks cert= and key=; write NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]',
    },
    { args: [REMOTE, TLS, TLS], problem: '--provider-tls: the TLS files of provider "far" are specified twice' },
    { args: [REMOTE, `${TLS},key=/k`], problem: '--provider-tls: key= of provider "far" is specified twice' },
    {
      args: [REMOTE, "--provider-tls=ca"],
      problem: '--provider-tls: "ca" has no provider name; write NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]',
    },
  ])("refuses $args", ({ args, problem }) => {
    expect(problemsOf(...args)).toContain(problem);
  });

  test("reports every missing file, together with the other problems", () => {
    const tls = "--provider-tls=far=ca=/nowhere/a,cert=/nowhere/b,key=/nowhere/c";
    expect(problemsOf(REMOTE, tls, "--provider=near=tcp://10.0.0.1:1", "--leader-elect=maybe")).toHaveLength(5);
  });
});

describe("providerFlags.providerTls", () => {
  test("writes what it has read", () => {
    const text = "far=ca=/tls/ca.pem,cert=/tls/tls.crt,key=/tls/tls.key,server-name=provider.example.com";
    const parsed = providerFlags.providerTls.parse(text, undefined);
    expect(parsed.kind === "value" && providerFlags.providerTls.write(parsed.value)).toEqual([text]);
  });
});

describe("provider call rate flag", () => {
  const before: readonly ProviderCallRate[] = [{ provider: "west", quotaClass: undefined, rate: undefined }];

  describe("providerFlags.providerCallRate.parse()", () => {
    test.each<[string, ProviderCallRate]>([
      ["acme=20", { provider: "acme", quotaClass: undefined, rate: { cloudCallsPerSecond: 20, burst: 20 } }],
      ["acme=0.5", { provider: "acme", quotaClass: undefined, rate: { cloudCallsPerSecond: 0.5, burst: 1 } }],
      ["west/routes=5:9", { provider: "west", quotaClass: "routes", rate: { cloudCallsPerSecond: 5, burst: 9 } }],
      ["acme=0", { provider: "acme", quotaClass: undefined, rate: undefined }],
    ])("adds %j to the others, and writes what it reads", (text, rate) => {
      const value = [...before, rate];
      expect(providerFlags.providerCallRate.parse(text, before)).toEqual({ kind: "value", value });
      const [written = "", again = ""] = [providerFlags.providerCallRate.write(value)].flat().map(String);
      expect(written).toBe("west=0");
      expect(providerFlags.providerCallRate.parse(again, before)).toEqual({ kind: "value", value });
    });

    test.each([
      ["acme", '"acme" is not NAME=RATE or NAME/CLASS=RATE'],
      ["=20", '"=20" is not NAME=RATE'],
      ["acme/disks=20", '"disks"; use one of instances, load_balancers, routes, volumes'],
      ["acme=fast", '"fast" is not a number of requests per second'],
      ["acme=-1", '"-1" is not a number of requests per second'],
      ["acme=20:", 'the burst "" is not a whole number, 1 or more'],
      ["acme=20:0", 'the burst "0" is not a whole number, 1 or more'],
      ["west=5", "west has two rates"],
    ])("refuses %j", (text, problem) => {
      const parsed = providerFlags.providerCallRate.parse(text, before);
      expect(parsed).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
    });
  });
});

describe("provider selector flag", () => {
  const before: ProviderSelectors = new Map([["west", { text: "a", requirements: [{ kind: "exists", key: "a" }] }]]);

  describe("providerFlags.providerNodeSelector.parse()", () => {
    test("adds a selector to those of other providers", () => {
      expect(providerFlags.providerNodeSelector.parse("east=example.com/cloud=east,!edge", before)).toEqual({
        kind: "value",
        value: new Map([
          ...before,
          [
            "east",
            {
              text: "example.com/cloud=east,!edge",
              requirements: [
                { kind: "in", key: "example.com/cloud", values: ["east"] },
                { kind: "notExists", key: "edge" },
              ],
            },
          ],
        ]),
      });
    });

    test.each([
      ["east", '"east" has no provider name; write NAME=SELECTOR'],
      ["=cloud=east", '"=cloud=east" has no provider name'],
      ["west=b", 'provider "west" has two selectors; join them with a comma'],
      ["east=cloud=a=b", 'the selector of provider "east" is invalid: '],
      ["east=", 'the selector of provider "east" is empty and would match every node'],
    ] as const)("refuses %j", (text, problem) => {
      const parsed = providerFlags.providerNodeSelector.parse(text, before);
      expect(parsed).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
    });
  });
});
