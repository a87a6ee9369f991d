import { describe, expect, test } from "vitest";
import { type Command, parseCommand, TABLE } from "./options.ts";
import { variableName } from "../options/parse.ts";
import { unusedPaths } from "../options/upstream-flags.ts";

const HEAD = "apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n";
const PROVIDER = "Cloudwire:\n  Provider: acme=unix:///run/acme.sock\n";

interface Given {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly file?: string;
}

function parse({ args = [], environment = {}, file }: Given): Command {
  const readText = (path: string): string => {
    if (path !== "ccm.yaml" || file === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
    return file;
  };
  return parseCommand({ args, environment, readText }, new Set(["service-lb-controller"]));
}

const withFile = (text: string, given: Given = {}): Command =>
  parse({ ...given, args: ["--config=ccm.yaml", ...(given.args ?? [])], file: HEAD + text });

const problemsOf = (command: Command): readonly string[] =>
  command.kind === "invalid" ? command.problems.map(({ where, what }) => `${where}: ${what}`) : [];

describe("parseCommand() with a file", () => {
  test("reads what upstream's configuration has, and what it does not have", () => {
    const text = `Generic:
  Controllers: ["*", -service-lb-controller]
  LeaderElection:
    LeaderElect: false
    LeaseDuration: 30s
KubeCloudShared:
  ClusterName: blue
NodeController:
  ConcurrentNodeSyncs: 7
Cloudwire:
  Provider: [acme=unix:///run/acme.sock]
  NodeDeletionConfirmationPeriod: 1m
`;
    expect(withFile(text)).toEqual({
      kind: "run",
      warnings: [],
      configText: HEAD + text,
      migration: undefined,
      tracing: undefined,
      options: expect.objectContaining({
        controllers: ["*", "-service-lb-controller"],
        leaderElect: false,
        leaderElectLeaseDuration: 30_000,
        clusterName: "blue",
        concurrentNodeSyncs: 7,
        provider: [{ name: "acme", address: "unix:///run/acme.sock" }],
        nodeDeletionConfirmationPeriod: 60_000,
      }),
    });
  });

  test("reads JSON as well", () => {
    const file = JSON.stringify({
      apiVersion: "cloudcontrollermanager.config.k8s.io/v1alpha1",
      kind: "CloudControllerManagerConfiguration",
      KubeCloudShared: { ClusterName: "blue" },
      Cloudwire: { Provider: "acme=unix:///run/acme.sock" },
    });
    expect(parse({ args: ["--config", "ccm.yaml"], file })).toMatchObject({
      kind: "run",
      options: { clusterName: "blue" },
    });
  });

  test.each([
    {
      what: "names line and path of every problem at once",
      text: `Generic:\n  LeaderElection:\n    LeaseDuration: soon\n  Debug: true\n${PROVIDER}  V: -1\n`,
      problems: [
        "ccm.yaml:6: Generic.Debug: is not a setting",
        'ccm.yaml:5: Generic.LeaderElection.LeaseDuration: "soon" is not a duration; write it like 300ms, 15s or 1m30s',
        'ccm.yaml:9: Cloudwire.V: "-1" is not a whole number of at least 0',
      ],
    },
    {
      what: "suggests the name that was meant",
      text: `KubeCloudShared:\n  ClusterNam: x\n${PROVIDER}`,
      problems: ["ccm.yaml:4: KubeCloudShared.ClusterNam: is not a setting; did you mean KubeCloudShared.ClusterName?"],
    },
    {
      what: "refuses a list where one value is taken",
      text: `KubeCloudShared:\n  ClusterName: [a, b]\n${PROVIDER}`,
      problems: ["ccm.yaml:4: KubeCloudShared.ClusterName: is a list, but takes one value"],
    },
    {
      what: "refuses a tree where a value is taken",
      text: `KubeCloudShared:\n  ClusterName: {a: b}\n${PROVIDER}`,
      problems: ["ccm.yaml:4: KubeCloudShared.ClusterName: is not a string, a number or a list of them"],
    },
    {
      what: "refuses a value where a section is",
      text: `Generic: yes\n${PROVIDER}`,
      problems: ["ccm.yaml:3: Generic: is a section: write its settings below it, or remove the line"],
    },
    {
      what: "says where it is malformed",
      text: "Generic: {\n",
      problems: [expect.stringMatching(/^ccm\.yaml:\d+: /)],
    },
    {
      what: "refuses a setting given twice",
      text: `${PROVIDER}Cloudwire:\n  V: 1\n`,
      problems: [expect.stringMatching(/^ccm\.yaml:5: .*unique/)],
    },
    {
      what: "does not miss what was given wrongly",
      text: "Cloudwire:\n  Provider: 5\n",
      problems: ["ccm.yaml:4: Cloudwire.Provider: is 5, but takes a string: put it in quotes"],
    },
    {
      what: "refuses a second document",
      text: `${PROVIDER}---\n${HEAD}`,
      problems: ["ccm.yaml:5: begins a second document; only one is allowed"],
    },
    {
      what: "suggests nothing for what is like nothing",
      text: `${PROVIDER}  <<: {}\n`,
      problems: ["ccm.yaml:5: Cloudwire.<<: is not a setting"],
    },
    {
      what: "suggests the path of the flag, and the section of a setting",
      text: `cluster-name: x\ngeneric: {}\nKubeCloudShared:\n  kubeApiQps: 1\n${PROVIDER}`,
      problems: [
        "ccm.yaml:3: cluster-name: is not a setting; did you mean KubeCloudShared.ClusterName?",
        "ccm.yaml:4: generic: is not a setting; did you mean Generic?",
        "ccm.yaml:6: KubeCloudShared.kubeApiQps: is not a setting; did you mean Generic.ClientConnection.QPS?",
      ],
    },
    {
      what: "refuses what YAML reads as another type than was meant, and what has no value",
      text: `Generic:\n  LeaderElection:\n    LeaderElect: yes\n    LeaseDuration: 30\n  Port: "1"\n  Controllers: [1]\nKubeCloudShared:\n  ClusterName: 010\nWebhook:\n${PROVIDER}  Master:\n`,
      problems: [
        'ccm.yaml:5: Generic.LeaderElection.LeaderElect: is the string "yes", but takes true or false',
        "ccm.yaml:6: Generic.LeaderElection.LeaseDuration: is 30, but takes a duration like 300ms, 15s or 1m30s",
        'ccm.yaml:7: Generic.Port: is the string "1", but takes a number',
        "ccm.yaml:8: Generic.Controllers: item 1 is not a string: put it in quotes",
        "ccm.yaml:10: KubeCloudShared.ClusterName: is 10, but takes a string: put it in quotes",
        "ccm.yaml:11: Webhook: is a section: write its settings below it, or remove the line",
        "ccm.yaml:14: Cloudwire.Master: has no value: set one, or remove the line",
      ],
    },
    {
      what: "refuses what upstream would refuse, where it has no effect",
      text: `Generic:\n  LeaderElection: {ResourceLock: endpoints}\n  MinResyncPeriod: 5\n${PROVIDER}`,
      problems: [
        'ccm.yaml:4: Generic.LeaderElection.ResourceLock: "endpoints" is not one of leases',
        "ccm.yaml:5: Generic.MinResyncPeriod: is 5, but takes a duration like 300ms, 15s or 1m30s",
      ],
    },
  ])("$what", ({ text, problems }) => {
    expect(problemsOf(withFile(text))).toEqual(problems);
  });

  test("warns of settings that only upstream uses", () => {
    expect(withFile(`KubeCloudShared:\n  CloudProvider:\n    Name: external\n${PROVIDER}`)).toMatchObject({
      kind: "run",
      warnings: [
        {
          where: "ccm.yaml:5: KubeCloudShared.CloudProvider.Name",
          what: "--provider names the provider sidecars",
        },
      ],
    });
  });

  test("empties a list that has a default", () => {
    expect(withFile(`${PROVIDER}  RequestheaderGroupHeaders: []\n`)).toMatchObject({
      kind: "run",
      options: { requestheaderGroupHeaders: [] },
    });
  });

  test.each([
    ["", [/^ccm\.yaml: contains no CloudControllerManagerConfiguration$/]],
    ["- a\n", [/^ccm\.yaml: contains no CloudControllerManagerConfiguration$/]],
    [
      "apiVersion: v1\nkind: ConfigMap\ndata: {}\n",
      [/^ccm\.yaml:1: apiVersion: is "v1", not/, /^ccm\.yaml:2: kind: is "ConfigMap", not/],
    ],
    [PROVIDER, [/^ccm\.yaml: needs apiVersion: \S+ and kind: CloudControllerManagerConfiguration$/]],
    [`${HEAD.replace("v1alpha1", "v2")}${PROVIDER}`, [/^ccm\.yaml:1: apiVersion: is "\S+v2", not \S+v1alpha1$/]],
  ])("wants to know that the file is meant for it: %j", (file, patterns) => {
    const problems = problemsOf(parse({ args: ["--config=ccm.yaml"], file }));
    expect(problems).toEqual(patterns.map((pattern) => expect.stringMatching(pattern)));
  });

  test("reports an unreadable file", () => {
    expect(problemsOf(parse({ args: ["--config=gone.yaml"] }))).toContain(
      "gone.yaml: cannot be read: ENOENT: no such file, open 'gone.yaml'",
    );
  });
});

describe("parseCommand() with several sources", () => {
  const file = `${PROVIDER}KubeCloudShared:\n  ClusterName: of-file\nNodeController:\n  ConcurrentNodeSyncs: 7\n`;
  const environment = { CLOUDWIRE_CLUSTER_NAME: "of-environment", CLOUDWIRE_V: "" };

  test.each([
    ["the file over the default", {}, "of-file"],
    ["the environment over the file", { environment }, "of-environment"],
    ["the command line over all", { environment, args: ["--cluster-name=of-flag"] }, "of-flag"],
  ])("takes %s", (_sentence, given, clusterName) => {
    expect(withFile(file, given)).toMatchObject({ kind: "run", options: { clusterName, concurrentNodeSyncs: 7 } });
  });

  test("does not add a list of one source to that of another", () => {
    const args = ["--provider=b=unix:///run/b.sock"];
    expect(withFile(PROVIDER, { args })).toMatchObject({
      kind: "run",
      options: { provider: [{ name: "b", address: "unix:///run/b.sock" }] },
    });
  });

  test("takes the file's name from the environment", () => {
    const given = { environment: { CLOUDWIRE_CONFIG: "ccm.yaml" }, file: `${HEAD}${file}` };
    expect(parse(given)).toMatchObject({ kind: "run", options: { clusterName: "of-file" } });
  });

  test("names the place of a setting that breaks a rule", () => {
    const text = `${PROVIDER}Generic:\n  Address: everywhere\nKubeCloudShared:\n  ClusterCIDR: 10.0.0.0\n`;
    const given = { environment: { CLOUDWIRE_MASTER: "nonsense" }, args: ["--leader-elect-lease-duration=5s"] };
    expect(problemsOf(withFile(text, given))).toEqual([
      expect.stringMatching(/^CLOUDWIRE_MASTER: "nonsense" is not an address/),
      expect.stringMatching(/^--leader-elect-lease-duration: 5s is not longer/),
      expect.stringMatching(/^ccm\.yaml:8: KubeCloudShared\.ClusterCIDR: "10\.0\.0\.0" is not a CIDR/),
      expect.stringMatching(/^ccm\.yaml:6: Generic\.Address: "everywhere" is not an IP address/),
    ]);
  });

  test("reports problems of other files and of OTEL variables together with all others", () => {
    const args = [
      "--enable-leader-migration",
      "--leader-migration-config=gone-1.yaml",
      "--provider=far=tcp://10.0.0.1:1",
      "--provider-tls=far=ca=gone.pem,cert=gone.crt,key=gone.key",
      "--leader-elect=maybe",
    ];
    const given = { args, environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" } };
    expect(problemsOf(withFile("Cloudwire:\n  TracingConfigFile: gone-2.yaml\n", given))).toEqual([
      expect.stringMatching(/^--leader-elect: "maybe" is neither/),
      expect.stringMatching(/^--provider-tls: ca= .* cannot be read: ENOENT/),
      expect.stringMatching(/^--provider-tls: cert= .* cannot be read: ENOENT/),
      expect.stringMatching(/^--provider-tls: key= .* cannot be read: ENOENT/),
      expect.stringMatching(/^--leader-migration-config: gone-1\.yaml: cannot be read: ENOENT/),
      expect.stringMatching(/^ccm\.yaml:4: Cloudwire\.TracingConfigFile: gone-2\.yaml: cannot be read: ENOENT/),
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT: "collector" has no port/),
    ]);
  });

  test("reports problems of OTEL variables also when the file cannot be parsed", () => {
    const given = { args: ["--config=gone.yaml"], environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" } };
    expect(problemsOf(parse(given))).toEqual([
      expect.stringMatching(/^gone\.yaml: cannot be read: ENOENT/),
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT: "collector" has no port/),
    ]);
  });

  test("reads one list item per line of a variable", () => {
    const given = { environment: { CLOUDWIRE_PROVIDER: "a=unix:///a.sock\nb=unix:///b.sock\n" } };
    expect(parse(given)).toMatchObject({ kind: "run", options: { provider: [{ name: "a" }, { name: "b" }] } });
  });

  test("names the variable that is wrong", () => {
    const command = withFile(PROVIDER, { environment: { CLOUDWIRE_LEADER_ELECT: "maybe" } });
    expect(problemsOf(command)).toEqual(['CLOUDWIRE_LEADER_ELECT: "maybe" is neither true nor false']);
  });
});

describe("paths that only upstream has a use for", () => {
  test("are of no setting", () => {
    expect([...unusedPaths.keys()].filter((path) => TABLE.byPath.has(path) || TABLE.byPreviousPath.has(path))).toEqual(
      [],
    );
  });
});

describe("previous paths of upstream", () => {
  const previous = [...TABLE.byPreviousPath].map(([path, row]) => ({ path, row, now: row.path ?? "" }));
  /** A file in which each path has its value, in this order. */
  const fileOf = (...settings: readonly (readonly [path: string, value: string])[]): string =>
    PROVIDER +
    settings
      .map(([path, value]) => `${path.replace(".", ": {")}: ${value}${"}".repeat(path.split(".").length - 1)}\n`)
      .join("");
  const valueOf = (command: Command, key: string): unknown =>
    command.kind === "run" ? new Map<string, unknown>(Object.entries(command.options)).get(key) : command;

  test("are those that upstream moved", () => {
    expect(previous.map(({ path, now }) => [path, now])).toEqual([
      ["KubeCloudShared.NodeMonitorPeriod", "NodeLifecycleController.NodeMonitorPeriod"],
    ]);
    expect(previous.filter(({ path }) => TABLE.byPath.has(path))).toEqual([]);
  });

  test.each(previous)("$path and $now have the same effect (case V-1)", ({ path, now, row }) => {
    for (const each of [path, now]) {
      const command = withFile(fileOf([each, "90s"]));
      expect([command, valueOf(command, row.key)]).toEqual([expect.objectContaining({ warnings: [] }), 90_000]);
    }
  });

  test.each(previous)("$now takes precedence over $path in any order (case V-1)", ({ path, now, row }) => {
    const settings = [
      [path, "30s"],
      [now, "90s"],
    ] as const;
    for (const order of [settings, settings.toReversed()]) {
      const command = withFile(fileOf(...order));
      expect(command).toMatchObject({ warnings: [{ what: `${now} takes precedence` }] });
      expect(valueOf(command, row.key)).toBe(90_000);
    }
  });

  test.each(previous)("a wrong value of $path is reported also beside $now (case V-1)", ({ path, now }) => {
    expect(problemsOf(withFile(fileOf([path, "soon"], [now, "90s"])))).toEqual([
      expect.stringMatching(/"soon" is not a duration/),
    ]);
  });

  test.each(previous)("the flag takes precedence over both paths (case V-1)", ({ path, now, row }) => {
    const args = [`--${row.name}=1m`];
    expect(valueOf(withFile(fileOf([path, "30s"], [now, "90s"]), { args }), row.key)).toBe(60_000);
  });
});

describe("the settings", () => {
  test("can each be set in the file, at one path each, but for the file itself", () => {
    const keys = [...TABLE.byKey.keys()].filter((key) => key !== "config");
    expect([...TABLE.byPath.values()].map(({ key }) => key)).toEqual(keys);
  });

  test("can each be set by one variable", () => {
    expect(new Set([...TABLE.byName.keys()].map((name) => variableName(name))).size).toBe(TABLE.byKey.size);
  });
});
