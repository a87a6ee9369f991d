import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHART, helm, type KubernetesObject, plainManifests, renderChart, valueArgs } from "@cloudwire/deploy/chart";
import { describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { CHART_CASES } from "./support/chart-cases.ts";
import { containersOf, laxities, mountersOf, podsOf } from "./support/pods.ts";

const CONTROLLER = "controller/src/main.ts";
const MANIFESTS = new URL("../../../deploy/manifests/", import.meta.url);
const CASES = Object.keys(CHART_CASES);

/** Of everything that the chart makes of settings, once. */
const CONFIGURED = [
  "a static pod",
  "two sidecars, and a provider elsewhere",
  "the webhook",
  "an API server by its address, and all controllers",
];

const renders = new Map<string, Promise<readonly KubernetesObject[]>>();

/** What the chart makes of a case, rendered once. */
const rendered = (name: string): Promise<readonly KubernetesObject[]> => {
  const objects = renders.get(name) ?? renderChart(CHART_CASES[name]);
  renders.set(name, objects);
  return objects;
};

/** What cannot be as strict as everything else, and why it is so is in the examples. */
const EXPECTED_LAXITIES: Readonly<Record<string, readonly string[]>> = {
  "a static pod": ["pod: mounts /etc/kubernetes/cloud-controller-manager.conf of the host as kubeconfig"],
  "example baremetal": [
    "pod: mounts /var/lib/cloudwire of the host as state",
    "baremetal: runs as root",
    "baremetal: has capabilities NET_ADMIN,NET_BIND_SERVICE,NET_RAW",
  ],
};

const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject | undefined =>
  objects.find((object) => object.kind === kind);

describe("every pod", () => {
  test.each(CASES)("of %s is as strict as it can be", async (name) => {
    const pods = podsOf(await rendered(name));
    expect(pods.map(({ of }) => of)).toContainEqual(expect.stringMatching(/^(?:Deployment|DaemonSet|Pod) cloud-/));
    expect(pods.flatMap(({ spec }) => laxities(spec))).toEqual(EXPECTED_LAXITIES[name] ?? []);
  });

  test.each(CASES)("of %s gives the cluster's credentials to the controller alone", async (name) => {
    const [main] = podsOf(await rendered(name)).filter(({ of }) => !of.endsWith("-installed"));
    const hasCredentials = (volume: object): boolean =>
      at(volume, "name") === "kubeconfig" ||
      listOf(at(volume, "projected", "sources")).some((source) => "serviceAccountToken" in source);
    expect(mountersOf(main?.spec, hasCredentials)).toEqual(["controller"]);
  });

  test("shares the directory of sockets, but no Secret, and no provider's own directory", async () => {
    const providers = [
      { name: "east", secrets: [{ name: "east-key", mountPath: "/run/secrets/key" }] },
      { name: "west", secrets: [{ name: "west-key", mountPath: "/run/secrets/key" }], files: { "a.yaml": "a: 1" } },
    ];
    const pods = podsOf(await renderChart({ values: { providers } }));
    const spec = pods.find(({ of }) => of.startsWith("Deployment"))?.spec;
    const having = (secretName: string) => (volume: object) => at(volume, "secret", "secretName") === secretName;
    expect(mountersOf(spec, having("east-key"))).toEqual(["east"]);
    expect(mountersOf(spec, having("west-key"))).toEqual(["west"]);
    expect(mountersOf(spec, ({ name }) => name === "west-files")).toEqual(["west"]);
    expect(mountersOf(spec, ({ name }) => name === "cloud-provider")).toEqual(["east", "west", "controller"]);
    expect(listOf(at(spec, "volumes")).find(({ name }) => name === "cloud-provider")).toEqual({
      name: "cloud-provider",
      emptyDir: { medium: "Memory", sizeLimit: "1Mi" },
    });
  });
});

describe("a NetworkPolicy", () => {
  test("that names who may read lets in the pod of `helm test` beside them", async () => {
    const objects = await rendered("the pod network");
    const peers = listOf(at(named(objects, "NetworkPolicy"), "spec", "ingress", 0, "from"));
    const tests = objects.find((object) => at(object, "metadata", "annotations", "helm.sh/hook") === "test");
    expect(peers).toEqual([
      { namespaceSelector: {} },
      { podSelector: { matchLabels: at(tests, "metadata", "labels") } },
    ]);
    expect(Object.keys(Object(at(tests, "metadata", "labels")))).toHaveLength(2);
  });

  test("that names no one lets everybody in", async () => {
    const objects = await renderChart({ values: { hostNetwork: false, providers: [{ name: "simulated" }] } });
    expect(at(named(objects, "NetworkPolicy"), "spec", "ingress", 0, "from")).toBeUndefined();
  });
});

describe("the controller", () => {
  test.concurrent.each(CONFIGURED)("takes the settings that the chart gives it for %s", async (name) => {
    const objects = await rendered(name);
    const controller = podsOf(objects)
      .flatMap(({ spec }) => containersOf(spec))
      .find(({ name }) => name === "controller");
    const directory = await mkdtemp(join(tmpdir(), "cloudwire-chart-"));
    const config = at(named(objects, "ConfigMap"), "data", "config.yaml");
    await writeFile(join(directory, "config.yaml"), String(config));
    const args = [at(controller, "args")].flat().map((arg) => String(arg).replace("/etc/cloudwire/", `${directory}/`));
    // It reports every problem before anything starts.
    await using program = new Program({ source: CONTROLLER, args: [...args, "--of-this-test"] });
    expect(await program.exit(180_000)).toEqual({ code: 64, signal: null });
    expect(program.output.trim().split("\n")).toEqual([expect.stringContaining("--of-this-test: is not a flag")]);
    await rm(directory, { recursive: true });
  });
});

test.each(CONFIGURED)("helm lint has nothing against %s", async (name) => {
  const options = CHART_CASES[name] ?? {};
  const input = JSON.stringify(options.values ?? {});
  expect(await helm(["lint", "--strict", CHART, ...valueArgs(options)], { input })).toContain("0 chart(s) failed");
});

test("deploy/manifests has what the chart renders of its examples", async () => {
  const rendered = await plainManifests();
  const there = (await readdir(MANIFESTS)).filter((name) => !name.startsWith("rbac"));
  expect(there.toSorted()).toEqual(Object.keys(rendered).toSorted());
  for (const [name, text] of Object.entries(rendered)) {
    expect(await readFile(new URL(name, MANIFESTS), "utf8"), "npm run render -w @cloudwire/deploy").toBe(text);
  }
});

describe("a change of the configuration", () => {
  const templateWith = async (config: object, files: object = {}): Promise<unknown> => {
    const values = { providers: [{ name: "acme", files }], config };
    return at(named(await renderChart({ values }), "Deployment"), "spec", "template");
  };

  test("leaves the pods alone where the controller follows it", async () => {
    const before = await templateWith({
      Cloudwire: { NodeDeletionConfirmationPeriod: "30s" },
      NodeStatusUpdateFrequency: "5m",
    });
    expect(await templateWith({ Cloudwire: { NodeDeletionConfirmationPeriod: "50s", V: 4 } })).toEqual(before);
  });

  test.each([
    ["of a setting that is read at the start", { Cloudwire: { LoggingFormat: "json" } }, {}],
    ["of a file of a provider", {}, { "acme.yaml": "region: east\n" }],
  ])("%s makes new ones", async (_name, config, files) => {
    expect(await templateWith(config, files)).not.toEqual(await templateWith({}));
  });
});
