import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { API_VERSION, KIND } from "../../src/options/config-file.ts";
import { type Command, parseCommand, TABLE } from "../../src/app/options.ts";
import { unusedPaths } from "../../src/options/upstream-flags.ts";
import { configTree } from "../../src/options/help.ts";
import { configSchema } from "./config-schema.ts";
import { SAMPLE } from "../reference/configuration-page.ts";

const accepts = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(configSchema());

const HEAD = { apiVersion: API_VERSION, kind: KIND };
const PROVIDER = "--provider=acme=unix:///run/acme.sock";

/** As a file that names no provider needs them. */
const flagsFor = (text: string): readonly string[] => (text.includes("Provider: [") ? [] : [PROVIDER]);

function parseFile(text: string, args: readonly string[] = flagsFor(text)): Command {
  const sources = { args: ["--config=ccm.yaml", ...args], environment: {}, readText: () => text };
  return parseCommand(sources, new Set(["node-route-controller"]));
}

/** Who takes a file. */
const takers = (text: string) => ({ parser: parseFile(text).kind === "run", schema: accepts(parseYaml(text)) });

/** A file in which `path` has `value`. */
function fileWith(path: string, value: unknown): string {
  const below = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return JSON.stringify({ ...HEAD, ...Object(below) });
}

const YAML_HEAD = `apiVersion: ${API_VERSION}\nkind: ${KIND}\n`;

describe("configSchema()", () => {
  test("takes the sample of the page, and so does the parser", () => {
    expect(parseFile(SAMPLE, [])).toMatchObject({
      kind: "run",
      warnings: [],
      options: { clusterName: "blue", leaderElectLeaseDuration: 30_000, controllers: ["*", "-node-route-controller"] },
    });
    expect(accepts(parseYaml(SAMPLE))).toBe(true);
  });

  test.each([
    "",
    "Generic: {LeaderElection: {LeaseDuration: 30s}}",
    "Generic:\n  Controllers: ['*', -node-route-controller]",
    "Generic: {Controllers: []}",
    "Generic: {Controllers: '*'}",
    "Generic: {ClientConnection: {QPS: 0.5}}",
    "Generic: {Debugging: {EnableProfiling: false}}",
    "KubeCloudShared: {ClusterName: '2026'}",
    "KubeCloudShared: {CIDRAllocatorType: CloudAllocator}",
    "NodeStatusUpdateFrequency: 1h30m",
    "Cloudwire: {TlsCipherSuites: [TLS_AES_128_GCM_SHA256]}",
    "Cloudwire: {AuthorizationAlwaysAllowPaths: []}",
    "KubeCloudShared: {CloudProvider: {Name: external}}",
    "Generic: {MinResyncPeriod: 12h0m0s}",
    "NodeLifecycleController: {NodeMonitorPeriod: 10s, ConcurrentNodeLifecycleSyncs: 4}",
    "KubeCloudShared: {NodeMonitorPeriod: 10s}",
  ])("and the parser take %s", (body) => {
    expect(takers(YAML_HEAD + body)).toEqual({ parser: true, schema: true });
  });

  test.each([
    "Generic: {LeaderElection: {LeaseDuration: soon}}",
    "Generic: {LeaderElection: {LeaseDuration: 30}}",
    "Generic: {LeaderElection: {LeaseDuration: -30s}}",
    "Generic: {LeaderElection: {LeaderElect: 'true'}}",
    "Generic: {LeaderElection: {LeaderElect: yes}}",
    "Generic: {LeaderElection: {ResourceLock: endpoints}}",
    "Generic: {leaderElection: {LeaderElect: true}}",
    "Generic: {Debug: true}",
    "Generic: {Port: 70000}",
    "Generic: {Port: 1.5}",
    "Generic: {Port: '10258'}",
    "Generic: {ClientConnection: {QPS: -1}}",
    "Generic: yes",
    "Generic:",
    "KubeCloudShared: {ClusterName: 2026}",
    "KubeCloudShared: {ClusterName: [a]}",
    "KubeCloudShared: {ClusterName: {a: b}}",
    "KubeCloudShared: {ClusterName: }",
    "KubeCloudShared: {CIDRAllocatorType: Other}",
    "NodeController: {ConcurrentNodeSyncs: 0}",
    "NodeLifecycleController: {ConcurrentNodeLifecycleSyncs: 0}",
    "KubeCloudShared: {NodeMonitorPeriod: 10}",
    "Webhook: {Webhooks: [1]}",
    "Cloudwire: {Config: other.yaml}",
    "Cloudwire: {LoggingFormat: xml}",
    "Cloudwire: {TlsCipherSuites: [TLS_NONE]}",
    "Cloudwire: {Provider: [unix:///run/acme.sock]}",
    "Cloudwire: {Provider: ['Acme=unix:///run/acme.sock']}",
    "Cloudwire: {ProviderNodeSelector: ['=a=b']}",
    "cluster-name: blue",
    "- a",
  ])("and the parser refuse %s", (body) => {
    expect(takers(body.startsWith("-") ? body : YAML_HEAD + body)).toEqual({ parser: false, schema: false });
  });

  test.each([
    ["no apiVersion", `kind: ${KIND}\n`],
    ["another kind", `apiVersion: ${API_VERSION}\nkind: KubeletConfiguration\n`],
    ["another version", `apiVersion: ${API_VERSION}2\nkind: ${KIND}\n`],
  ])("and the parser refuse %s", (_what, text) => {
    expect(takers(text)).toEqual({ parser: false, schema: false });
  });

  test.each([
    ["at least durations", "NodeStatusUpdateFrequency: 1s"],
    ["ranges", "KubeCloudShared: {ClusterCIDR: 10.0.0.0}"],
    ["addresses", "Generic: {Address: everywhere}"],
    ["names of controllers", "Generic: {Controllers: [nope]}"],
    ["settings that do not fit each other", "Generic: {LeaderElection: {LeaseDuration: 5s}}"],
    ["paths of sockets", "Cloudwire: {Provider: ['acme=unix://relative']}"],
    ["the same provider twice", "Cloudwire: {Provider: ['a=unix:///a', 'a=unix:///b']}"],
  ])("leaves %s to the parser", (_what, body) => {
    const command = parseFile(YAML_HEAD + body);
    expect([command.kind, accepts(parseYaml(YAML_HEAD + body))]).toEqual(["invalid", true]);
  });

  test("leaves several names in one text to the parser", () => {
    const body = "Cloudwire: {TlsCipherSuites: ['TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384']}";
    expect(takers(YAML_HEAD + body)).toEqual({ parser: true, schema: false });
  });

  const paths = [...TABLE.byPath].map(([path, { flag }]) => ({ path, flag }));

  test.each(paths.filter(({ path }) => path !== "Cloudwire.Provider"))(
    "and the parser take the default of $path",
    ({ path, flag }) => {
      const text = fileWith(path, flag?.write(flag.defaultValue));
      expect(takers(text)).toEqual({ parser: true, schema: true });
    },
  );

  test.each([...TABLE.byPath.keys(), ...TABLE.byPreviousPath.keys(), ...unusedPaths.keys()])(
    "and the parser refuse nothing and a tree at %s",
    (path) => {
      expect([null, { a: 1 }].map((value) => takers(fileWith(path, value)))).toEqual([
        { parser: false, schema: false },
        { parser: false, schema: false },
      ]);
    },
  );
});

describe("configTree()", () => {
  const args = [
    PROVIDER,
    "--provider-node-selector=acme=cloud in (acme,other)",
    "--controllers=*,-node-route-controller",
    "--node-deletion-confirmation-period=1m30s",
    "--requestheader-group-headers=",
    "--kube-api-qps=0.5",
  ];

  test("is a file that the schema takes and that says the same", () => {
    const given = parseFile(JSON.stringify(HEAD), args);
    const tree = given.kind === "run" ? { ...HEAD, ...configTree(TABLE, given.options) } : undefined;
    expect(accepts(tree)).toBe(true);
    const options = given.kind === "run" ? { ...given.options, config: "ccm.yaml" } : undefined;
    const again = parseFile(JSON.stringify(tree), []);
    expect(again.kind === "run" ? { warnings: again.warnings, options: again.options } : again).toEqual({
      warnings: [],
      options,
    });
  });
});
