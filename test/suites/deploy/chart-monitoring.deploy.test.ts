import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { CHART, helm, type KubernetesObject, renderChart, valueArgs } from "@cloudwire/deploy/chart";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, type Json, listOf } from "../../support/kube.ts";
import { promtool } from "./observability/promtool.ts";
import { operatorCrd } from "./support/operator-crds.ts";

const PLURALS = ["servicemonitors", "prometheusrules"];
const RULES = new URL("../../../deploy/observability/alerts.yaml", import.meta.url);
const ON = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
const EAST = { name: "east", httpPort: 9102 };
const WEST = { name: "west", httpPort: 9103 };

/** Values that decide what the operator is given, and the ports that it scrapes then. */
const CASES: Readonly<Record<string, { readonly values: object; readonly ports: readonly string[] }>> = {
  "a Deployment": { values: { providers: [{ name: "acme" }], metrics: ON }, ports: ["https"] },
  "a DaemonSet with providers that can be reached": {
    values: { kind: "DaemonSet", hostNetwork: false, providers: [EAST, WEST], metrics: ON },
    ports: ["https", "http-9102", "http-9103"],
  },
  "labels, another interval and another name": {
    values: {
      name: "second-ccm",
      providers: [{ name: "acme" }],
      metrics: {
        serviceMonitor: { enabled: true, interval: "1m", labels: { release: "monitoring" } },
        prometheusRule: {
          enabled: true,
          labels: { release: "monitoring" },
          runbookBaseUrl: "https://runbooks.example.com/cloudwire/",
        },
      },
    },
    ports: ["https"],
  },
};

let cluster: ControlPlane;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "monitoring-"));
  await buildControlPlane();
  cluster = await startControlPlane();
  for (const plural of PLURALS) await cluster.kubectl(["apply", "--server-side", "-f", await operatorCrd(plural)]);
  const names = PLURALS.map((plural) => `crd/${plural}.monitoring.coreos.com`);
  await cluster.kubectl(["wait", "--for=condition=Established", "--timeout=60s", ...names]);
}, 60 * 60_000);
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

const isOfOperator = ({ apiVersion }: KubernetesObject): boolean => apiVersion.startsWith("monitoring.coreos.com/");

const rendered = async (values: object): Promise<readonly KubernetesObject[]> =>
  (await renderChart({ values })).filter((object) => isOfOperator(object));

const ruleOf = (objects: readonly KubernetesObject[]): unknown => objects.find(({ kind }) => kind === "PrometheusRule");

const alertsOf = (rule: unknown): readonly Json[] =>
  listOf(at(rule, "spec", "groups")).flatMap((group) => listOf(group["rules"]));

const apply = async (objects: readonly object[], ...args: readonly string[]): Promise<readonly Json[]> => {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const answer = await cluster.kubectl(["apply", "--validate=strict", "-o", "json", ...args, "-f", "-"], { input });
  return listOf(at(JSON.parse(answer), "items"));
};

/** The manifest without what one server added. */
const manifestOf = ({ kind, metadata, spec }: Json): object => ({
  kind,
  labels: at(metadata, "labels"),
  spec,
});

describe.each(Object.entries(CASES))("for Prometheus' operator, of %s", (_name, { values, ports }) => {
  test("the API server takes everything as it is rendered, and keeps all of it", async () => {
    const objects = await rendered(values);
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual(["PrometheusRule", "ServiceMonitor"]);
    await apply(objects, "--dry-run=server");
    const kept = await apply(objects);
    // The operator's defaults come on top; nothing else, and nothing is left out.
    expect(kept.map((object) => manifestOf(object))).toMatchObject(objects.map((object) => manifestOf({ ...object })));
  });

  test("the ports that are scraped are the Service's", async () => {
    const objects = await renderChart({ values });
    const service = objects.find(({ kind }) => kind === "Service");
    const monitor = objects.find(({ kind }) => kind === "ServiceMonitor");
    expect(listOf(at(monitor, "spec", "endpoints")).map(({ port }) => port)).toEqual(ports);
    expect(listOf(at(service, "spec", "ports")).map(({ name }) => name)).toEqual(ports);
    expect(service?.metadata.labels).toMatchObject(Object(at(monitor, "spec", "selector", "matchLabels")));
  });

  test("Prometheus can read the rules", async () => {
    const file = join(directory, "rules.json");
    await writeFile(file, JSON.stringify(at(ruleOf(await rendered(values)), "spec")));
    expect(await promtool(["check", "rules", file])).toMatchObject({ code: 0 });
  });
});

describe("the PrometheusRule", () => {
  test("has the alerts of deploy/observability", async () => {
    const named = [...(await readFile(RULES, "utf8")).matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
    const rule = ruleOf(await rendered({ providers: [{ name: "acme" }], metrics: ON }));
    expect(alertsOf(rule).map(({ alert }) => alert)).toEqual(named);
    expect(named).toContain("CloudwireDown");
  });

  test("has the configured name of the installation and address of its runbooks", async () => {
    const { values = {} } = CASES["labels, another interval and another name"] ?? {};
    const rules = alertsOf(ruleOf(await rendered(values)));
    expect(rules.filter(({ expr }) => String(expr).includes('job="cloud-controller-manager"'))).toEqual([]);
    expect(rules.filter(({ expr }) => String(expr).includes('job="second-ccm"'))).not.toEqual([]);
    const absent = rules.find(({ alert }) => alert === "CloudwireDown");
    expect(at(absent, "annotations", "runbook_url")).toBe("https://runbooks.example.com/cloudwire/CloudwireDown.md");
  });
});

test("a field that the operator does not know would be found", async () => {
  const [monitor] = (await rendered({ providers: [{ name: "acme" }], metrics: ON })).filter(
    ({ kind }) => kind === "ServiceMonitor",
  );
  const spec = { ...Object(at(monitor, "spec")), endpoint: [] };
  await expect(apply([{ ...monitor, spec }], "--dry-run=server")).rejects.toThrow(
    /unknown field "(?:spec\.)?endpoint"/,
  );
});

test("helm installs and uninstalls both with the rest of the chart", async () => {
  const options = { namespace: "kube-system", values: { providers: [{ name: "acme" }], metrics: ON } };
  const env = { KUBECONFIG: cluster.kubeconfigPath };
  const left = async (): Promise<string> =>
    cluster.kubectl([
      "get",
      PLURALS.join(","),
      "-n",
      "kube-system",
      "-l",
      "app.kubernetes.io/instance=monitored",
      "-o",
      "name",
    ]);
  await helm(["install", "monitored", CHART, "--set=name=monitored", ...valueArgs(options)], {
    input: JSON.stringify(options.values),
    env,
  });
  expect((await left()).trim().split("\n")).toEqual([
    "servicemonitor.monitoring.coreos.com/monitored",
    "prometheusrule.monitoring.coreos.com/monitored",
  ]);
  await helm(["uninstall", "monitored", "--namespace=kube-system"], { env });
  expect(await left()).toBe("");
});
