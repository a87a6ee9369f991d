import { describe, expect, test } from "vitest";
import { formatHelp, type OptionValues, type ProgramOptions, readOptions, withTables } from "./index.ts";

const options = {
  endpoint: { valueName: "unix:///path.sock", env: "CLOUD_PROVIDER_ENDPOINT", help: "Socket. Required." },
  zone: { valueName: "a|b", env: "ACME_ZONE", help: "Zone of new machines.", repeated: true },
  "call-rate": { valueName: "rate:burst", env: "ACME_CALL_RATE", help: "Requests a second. Default 10:50." },
  "watch-interval": { valueName: "seconds", env: "ACME_WATCH_INTERVAL", help: "Between lists. Default 60." },
  "pod-cidr": { valueName: "range", env: "ACME_POD_CIDR", help: "Pod CIDRs.", repeated: true },
  "ip-family": { valueName: "IPv4|IPv6", env: "ACME_IP_FAMILY", help: "Families. Default IPv4.", repeated: true },
} as const satisfies ProgramOptions;

const toSettings = (values: OptionValues<keyof typeof options>) => ({
  endpoint: values.required("endpoint", /^unix:/, "a socket"),
  zones: values.list("zone", /^[ab]$/, "a or b"),
  rate: values.rate("call-rate", { cloudCallsPerSecond: 10, burst: 50 }),
  watch: values.integer("watch-interval", 10, 3600, 60),
  podCidrs: values.ranges("pod-cidr"),
  families: values.ipFamilies("ip-family", ["IPv4"]),
});

const read = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  readOptions(options, { argv, env }, toSettings);

const least = ["--endpoint", "unix:///x"];
const defaults = {
  endpoint: "unix:///x",
  zones: [],
  rate: { cloudCallsPerSecond: 10, burst: 50 },
  watch: 60,
  podCidrs: [],
  families: ["IPv4"],
};

describe("readOptions()", () => {
  test.each([
    ["what is not given", least, {}, {}],
    ["the last one that is given", [...least, "--watch-interval", "20", "--watch-interval", "30"], {}, { watch: 30 }],
    ["all of one that is repeated", [...least, "--zone", "a", "--zone", "b"], {}, { zones: ["a", "b"] }],
    ["the environment", [], { CLOUD_PROVIDER_ENDPOINT: "unix:///x", ACME_ZONE: " a  b " }, { zones: ["a", "b"] }],
    ["the command line before", [...least, "--zone", "a"], { ACME_ZONE: "b" }, { zones: ["a"] }],
    ["an empty variable as none", least, { ACME_WATCH_INTERVAL: " " }, {}],
    ["address ranges", least, { ACME_POD_CIDR: "10.0.0.0/8 fd00::/64" }, { podCidrs: ["10.0.0.0/8", "fd00::/64"] }],
    ["families in their order, once", least, { ACME_IP_FAMILY: "IPv6 IPv4 IPv6" }, { families: ["IPv6", "IPv4"] }],
    ["a rate", [...least, "--call-rate", "2.5:7"], {}, { rate: { cloudCallsPerSecond: 2.5, burst: 7 } }],
  ])("reads %s", (_what, argv, env, expected) => {
    expect(read(argv, env)).toEqual({ kind: "settings", settings: { ...defaults, ...expected } });
  });

  test("reports all problems together", () => {
    const given = ["--zone", "c", "--zone", "a", "--call-rate", "0:1", "--watch-interval", "9"];
    const argv = [...given, "--pod-cidr", "10.0.0.0", "--pod-cidr", "10.0.0.0/33", "--ip-family", "IPv5"];
    expect(read(argv)).toEqual({
      kind: "problems",
      problems: [
        "--endpoint is missing: give a socket, or set CLOUD_PROVIDER_ENDPOINT",
        "--zone c: must be a or b",
        "--call-rate 0:1: must be requests a second and how many at once, such as 10:50",
        "--watch-interval 9: must be a whole number, 10 to 3600",
        "--pod-cidr 10.0.0.0: must be an address range such as 10.244.0.0/16",
        "--pod-cidr 10.0.0.0/33: must be an address range such as 10.244.0.0/16",
        "--ip-family IPv5: must be IPv4 or IPv6",
      ],
    });
  });

  test.each([
    ["an option that is not known", ["--zones", "a"], "--zones"],
    ["a value that is missing", ["--zone"], "--zone"],
    ["a word that belongs to nothing", ["a"], "'a'"],
  ])("refuses %s, and says where all are listed", (_what, argv, named) => {
    const problem = expect.stringMatching(new RegExp(`${named}.* \\(--help lists all options\\)$`, "s"));
    expect(read([...least, ...argv])).toEqual({ kind: "problems", problems: [problem] });
  });

  test("is asked for help before anything is looked at", () => {
    expect(read(["--help", "--zone", "c"])).toEqual({ kind: "help" });
  });
});

describe("formatHelp()", () => {
  test("has a line for each option", () => {
    const help = formatHelp(options, { program: "acme-provider", about: "Serves the contract for Acme." });
    expect(help).toBe(`Usage: acme-provider [options]

Serves the contract for Acme.

  --endpoint <unix:///path.sock>  Socket. Required. [CLOUD_PROVIDER_ENDPOINT]
  --zone <a|b>                    Zone of new machines. May be repeated. [ACME_ZONE]
  --call-rate <rate:burst>        Requests a second. Default 10:50. [ACME_CALL_RATE]
  --watch-interval <seconds>      Between lists. Default 60. [ACME_WATCH_INTERVAL]
  --pod-cidr <range>              Pod CIDRs. May be repeated. [ACME_POD_CIDR]
  --ip-family <IPv4|IPv6>         Families. Default IPv4. May be repeated. [ACME_IP_FAMILY]
`);
  });
});

describe("withTables()", () => {
  const annotations = [
    {
      key: "acme.example.com/lb-size",
      type: "enum",
      allowedValues: ["s", "l"],
      defaultValue: "s",
      description: "Its size.",
    },
    { key: "acme.example.com/lb-name", type: "string", mutable: true, description: "Its name." },
  ] as const;
  const tables = { options, annotations, annotationPrefix: "acme.example.com/lb-" };
  const readme =
    "# Acme\n<!-- begin options -->old<!-- end options -->\nand\n<!-- begin annotations --><!-- end annotations -->\n";

  test("puts the tables between their marks, and leaves the rest", () => {
    const filled = withTables(readme, tables);
    expect(filled).toMatch(/^# Acme\n<!-- begin options -->\n\n\| option /);
    expect(filled).toContain("| `--zone a\\|b` | `ACME_ZONE` | Zone of new machines. May be repeated. |");
    expect(filled).toContain("| `…size` | `s` `l` | `s` | no | Its size. |\n| `…name` | string |  | yes | Its name. |");
    expect(filled).not.toContain("old");
    expect(withTables(filled, tables)).toBe(filled);
  });

  test("says which mark is missing", () => {
    expect(() => withTables("# Acme", tables)).toThrow("between <!-- begin options --> and <!-- end options -->");
  });
});
