import { describe, expect, test } from "vitest";
import { formatDuration, parseAddress, parseDurationMs } from "../options/flag.ts";
import { isControllerEnabled } from "../api/controller-names.ts";
import { helpText } from "../options/help.ts";
import { type Command, parseCommand, TABLE } from "./options.ts";

const controllers = new Set(["cloud-node-controller", "cloud-node", "service-lb-controller", "service"]);
const provider = "--provider=acme=unix:///run/acme.sock";
const parse = (...args: readonly string[]): Command =>
  parseCommand({ args, environment: {}, readText: () => "" }, controllers);
const problemsOf = (...args: readonly string[]): readonly string[] => {
  const command = parse(...args);
  return command.kind === "invalid" ? command.problems.map(({ where, what }) => `${where}: ${what}`) : [];
};

describe("parseCommand()", () => {
  test("gives every flag its default when only the provider is named", () => {
    expect(parse(provider)).toEqual({
      kind: "run",
      warnings: [],
      options: expect.objectContaining({
        provider: [{ name: "acme", address: "unix:///run/acme.sock" }],
        kubeconfig: "",
        controllers: ["*"],
        clusterName: "kubernetes",
        leaderElect: true,
        leaderElectLeaseDuration: 15_000,
        nodeStatusUpdateFrequency: 300_000,
        v: 0,
      }),
    });
  });

  test.each([
    { sentence: "a value after =", args: ["--cluster-name=a=b"], wanted: { clusterName: "a=b" } },
    { sentence: "a value as the next argument", args: ["--cluster-name", "c"], wanted: { clusterName: "c" } },
    { sentence: "underscores for dashes", args: ["--cluster_name=c"], wanted: { clusterName: "c" } },
    { sentence: "a bare boolean", args: ["--leader-elect"], wanted: { leaderElect: true } },
    { sentence: "a boolean turned off", args: ["--leader-elect=false"], wanted: { leaderElect: false } },
    { sentence: "a boolean as Go reads it", args: ["--leader-elect=F"], wanted: { leaderElect: false } },
    {
      sentence: "an emptied list",
      args: ["--requestheader-group-headers="],
      wanted: { requestheaderGroupHeaders: [] },
    },
    { sentence: "-v with a space", args: ["-v", "4"], wanted: { v: 4 } },
    { sentence: "-v with =", args: ["-v=4"], wanted: { v: 4 } },
    { sentence: "-v with its number", args: ["-v4"], wanted: { v: 4 } },
    { sentence: "--v", args: ["--v=4"], wanted: { v: 4 } },
    { sentence: "nothing in an empty argument", args: ["", "--v=4", ""], wanted: { v: 4 } },
    { sentence: "the end of flags", args: ["--v=4", "--"], wanted: { v: 4 } },
    { sentence: "a fraction without its zero", args: ["--kube-api-qps=.5"], wanted: { kubeApiQps: 0.5 } },
    { sentence: "the last of two", args: ["--v=4", "--v=2"], wanted: { v: 2 } },
    {
      sentence: "lists that add up",
      args: ["--controllers=service", "--controllers=-cloud-node"],
      wanted: { controllers: ["service", "-cloud-node"] },
    },
    {
      sentence: "durations",
      args: ["--node-status-update-frequency=1m30s"],
      wanted: { nodeStatusUpdateFrequency: 90_000 },
    },
    { sentence: "an empty health address", args: ["--health-bind-address="], wanted: { healthBindAddress: "" } },
  ])("reads $sentence", ({ args, wanted }) => {
    expect(parse(provider, ...args)).toEqual({ kind: "run", options: expect.objectContaining(wanted), warnings: [] });
  });

  test.each([
    { args: ["--help"], kind: "help" },
    { args: ["--bogus", "-h"], kind: "help" },
    { args: ["--version"], kind: "version" },
    { args: ["--version=raw"], kind: "version" },
    { args: ["completion", "bash"], kind: "completion" },
    { args: ["completion", "--help"], kind: "help" },
    { args: ["--version=false", "--help=true"], kind: "help" },
  ])("answers $args with $kind whatever else is there", ({ args, kind }) => {
    expect(parse(...args)).toEqual({ kind });
  });

  test.each([
    { args: [], problem: "--provider: no provider; add --provider NAME=unix:///path/to/provider.sock" },
    { args: [provider, "--providr=x"], problem: "--providr: is not a flag of this program; did you mean --provider?" },
    { args: [provider, "--zzzzzzz", "4"], problem: "--zzzzzzz: is not a flag of this program; --help lists them" },
    {
      args: [provider, "--master=10.0.0.1:6443"],
      problem: '--master: "10.0.0.1:6443" is not an address; write it like https://10.0.0.1:6443',
    },
    {
      args: [provider, "--master=https://user:hunter2@10.0.0.1:6443"],
      problem: '--master: "https://***@10.0.0.1:6443" contains credentials; set them in the kubeconfig (--kubeconfig)',
    },
    {
      args: ["--provider=a=tcp://user:hunter2@h:1"],
      problem:
        '--provider: "tcp://***@h:1" is not tcp://host:port; write tcp://provider.example.com:9443 or tcp://[2001:db8::1]:9443',
    },
    {
      args: ["--provider=tcp://user:hunter=2@h:1"],
      problem: '--provider: "tcp://***@h:1" has no name; write NAME=unix:///path/to/provider.sock',
    },
    { args: [provider, "start"], problem: "start: is not a flag; this program takes flags only" },
    { args: [provider, "help"], problem: "help: lacks its dashes; write --help" },
    { args: [provider, "--", "--v=2"], problem: "--v=2: is not a flag; this program takes flags only" },
    { args: [provider, "-leader-elect=false"], problem: "-leader-elect=false: lacks its dashes; write --leader-elect" },
    {
      args: [provider, "--leader-elect", "false"],
      problem: '--leader-elect: takes its value after "=": write --leader-elect=false',
    },
    {
      args: [provider, "--cloud-confg=x"],
      problem: "--cloud-confg: is not a flag of this program; did you mean --cloud-config?",
    },
    { args: [provider, "--secure-port=010"], problem: '--secure-port: "010" is not a whole number from 0 to 65535' },
    {
      args: [provider, "--leader-elect-resource-name="],
      problem:
        '--leader-elect-resource-name: "" is not a valid Kubernetes name: use lower-case letters, digits, dashes and dots, with a letter or digit at both ends',
    },
    {
      args: [provider, "--leader-elect-resource-namespace=kube.system"],
      problem:
        '--leader-elect-resource-namespace: "kube.system" is not a valid Kubernetes name: use lower-case letters, digits and dashes, with a letter or digit at both ends',
    },
    { args: ["completion"], problem: "completion: needs the name of a shell; write completion bash" },
    { args: ["completion", "csh"], problem: 'completion: does not exist for "csh"; write completion bash' },
    {
      args: ["completion", "bash", "now"],
      problem: 'completion: takes no argument after the shell, but got "now"; write completion bash',
    },
    { args: [provider, "--kubeconfig"], problem: "--kubeconfig: needs a value: file" },
    { args: [provider, "--v=many"], problem: '--v: "many" is not a whole number of at least 0' },
    {
      args: [provider, "--secure-port=65536"],
      problem: '--secure-port: "65536" is not a whole number from 0 to 65535',
    },
    { args: [provider, "--kube-api-qps=-1"], problem: '--kube-api-qps: "-1" is not a number of at least 0' },
    { args: [provider, "--leader-elect=yes"], problem: '--leader-elect: "yes" is neither true nor false' },
    { args: [provider, "--logging-format=xml"], problem: '--logging-format: "xml" is not one of text, json' },
    {
      args: [provider, "--node-status-update-frequency=5"],
      problem: '--node-status-update-frequency: "5" is not a duration; write it like 300ms, 15s or 1m30s',
    },
    {
      args: [provider, "--node-status-update-frequency=5s"],
      problem: "--node-status-update-frequency: 5s is shorter than 10s",
    },
    {
      args: [provider, "--controllers=nodes"],
      problem:
        '--controllers: unknown controller "nodes"; available: cloud-node-controller, cloud-node, service-lb-controller, service',
    },
    {
      args: [provider, "--health-bind-address=10268"],
      problem: '--health-bind-address: "10268" is not host:port; write it like 127.0.0.1:10268 or [::1]:10268',
    },
    {
      args: ["--provider=unix:///a.sock"],
      problem: '--provider: "unix:///a.sock" has no name; write NAME=unix:///path/to/provider.sock',
    },
    {
      args: ["--provider=a=tcp://x"],
      problem:
        '--provider: "tcp://x" is not tcp://host:port; write tcp://provider.example.com:9443 or tcp://[2001:db8::1]:9443',
    },
    {
      args: ["--provider=a=unix://x.sock"],
      problem: '--provider: "unix://x.sock" has a relative path; write three slashes: unix:///path/to/provider.sock',
    },
    {
      args: ["--provider=A=unix:///x.sock"],
      problem: '--provider: the name "A" must consist of lower-case letters, digits, dashes and dots (at most 63)',
    },
    { args: [provider, provider], problem: '--provider: the name "acme" is specified twice' },
    {
      args: [provider, "--provider=b=unix:///run/acme.sock"],
      problem: '--provider: "unix:///run/acme.sock" is the address of both acme and b; use a separate address for each',
    },
    {
      args: [provider, "--provider-node-selector=b=cloud=b"],
      problem: '--provider-node-selector: unknown provider "b"; --provider names acme',
    },
    {
      args: [provider, "--provider=b=unix:///b.sock", "--default-load-balancer-provider=c"],
      problem: '--default-load-balancer-provider: unknown provider "c"; --provider names acme, b',
    },
    {
      args: [provider, "--cluster-cidr=10.0.0/8"],
      problem: '--cluster-cidr: "10.0.0/8" is not a CIDR; write it like 10.120.0.0/16 or fd00:10::/48',
    },
    {
      args: [provider, "--cluster-cidr=10.0.0.0/16,10.1.0.0/16"],
      problem: '--cluster-cidr: both CIDRs of "10.0.0.0/16,10.1.0.0/16" are IPv4; specify one per IP family',
    },
    {
      args: [provider, "--cluster-cidr=10.0.0.0/16,fd00::/48,10.1.0.0/16"],
      problem: "--cluster-cidr: has 3 CIDRs; specify one, or one per IP family",
    },
    {
      args: [provider, "--leader-elect-lease-duration=10s"],
      problem:
        "--leader-elect-lease-duration: 10s is not longer than --leader-elect-renew-deadline (10s): two replicas could lead",
    },
    {
      args: [provider, "--leader-elect-retry-period=9s"],
      problem:
        "--leader-elect-renew-deadline: 10s is not longer than 1.2 times --leader-elect-retry-period (9s): one slow renewal would lose the Lease",
    },
  ])("refuses $args", ({ args, problem }) => {
    expect(problemsOf(...args)).toEqual([problem]);
  });

  test("refuses a socket path that no Unix socket can have", () => {
    expect(problemsOf(`--provider=a=unix:///${"x".repeat(107)}`)).toEqual([
      "--provider: the path of the socket has 108 bytes; Unix sockets allow 107: use a shorter path",
    ]);
  });

  test("reports all problems together", () => {
    expect(
      problemsOf("--v=x", "--bogus", "argument", "--leader-elect-lease-duration=1s").map((line) => line.split(":")[0]),
    ).toEqual(["--bogus", "--v", "--provider", "--leader-elect-lease-duration"]);
  });
});

describe("durations", () => {
  test.each([
    { text: "0", ms: 0 },
    { text: "300ms", ms: 300 },
    { text: "1m30s", ms: 90_000 },
    { text: "1.5h", ms: 5_400_000 },
    { text: ".5m", ms: 30_000 },
  ])("parseDurationMs() reads $text", ({ text, ms }) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  test.each(["", "5", "-1s", "s", "1 s", "1d"])("parseDurationMs() refuses %j", (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });

  test.each([
    { ms: 0, text: "0s" },
    { ms: 250, text: "250ms" },
    { ms: 90_000, text: "1m30s" },
    { ms: 43_200_000, text: "12h0m0s" },
  ])("formatDuration() writes $text as Go does", ({ ms, text }) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("parseAddress()", () => {
  test.each([
    { text: "127.0.0.1:1", wanted: { host: "127.0.0.1", port: 1 } },
    { text: "[::1]:80", wanted: { host: "::1", port: 80 } },
    { text: ":80", wanted: { host: "0.0.0.0", port: 80 } },
    { text: "a:65536", wanted: undefined },
    { text: "::1:80", wanted: undefined },
  ])("reads $text", ({ text, wanted }) => {
    expect(parseAddress(text)).toEqual(wanted);
  });
});

describe("isControllerEnabled()", () => {
  const aliases = { "cloud-node": "cloud-node-controller" };
  test.each([
    { sentence: "on with *", names: ["*"], wanted: true },
    { sentence: "off when it is not named", names: ["other"], wanted: false },
    { sentence: "on by its alias", names: ["cloud-node"], wanted: true },
    { sentence: "off by its alias before *", names: ["-cloud-node", "*"], wanted: false },
    { sentence: "as its first mention says", names: ["cloud-node", "-cloud-node-controller"], wanted: true },
  ])("is $sentence", ({ names, wanted }) => {
    expect(isControllerEnabled("cloud-node-controller", names, new Set(), aliases)).toBe(wanted);
  });

  test("is off with * when it is off by default", () => {
    expect(isControllerEnabled("ipam", ["*"], new Set(["ipam"]), aliases)).toBe(false);
  });
});

describe("helpText()", () => {
  test("names every flag and keeps within 100 columns", () => {
    const text = helpText(TABLE, ["Usage: cloudwire-controller-manager"]);
    expect([...TABLE.byName.keys()].filter((name) => !text.includes(`--${name}`))).toEqual([]);
    expect(text.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });
});
