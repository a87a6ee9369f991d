import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { Harness } from "../support/harness.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SIGNER = "kubernetes.io/kubelet-serving";
const USAGES = ["digital signature", "server auth"];
const WAIT_MS = 60_000;

let controlPlane: ControlPlane;
let harness: Harness;
/** A kubeconfig with the rights that the documentation gives the approver, and what others need. */
let documentedRights: string;
const kubelets: string[] = [];

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({
    controllerManager: { controllers: ["certificatesigningrequest-signing-controller"] },
  });
  documentedRights = await grantDocumentedRights();
}, 60 * 60_000);
beforeEach(async () => {
  harness = await Harness.start(controlPlane, { instancePool: "10.64.0.0/16" });
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") controlPlane.keepFiles();
  for (const name of kubelets.splice(0)) await controlPlane.stopHollowNode(name);
  await harness.kube.delete(REQUESTS);
  await harness[Symbol.asyncDispose]();
});
afterAll(() => controlPlane.stop());

function startApprover(kubeconfigPath = controlPlane.kubeconfigPath): Program {
  return harness.startController({ kubeconfigPath, args: ["--controllers=*,kubelet-serving-csr-approver"] });
}

async function grantDocumentedRights(): Promise<string> {
  const page = await readFile(new URL("../../../../docs/explanation/bootstrap.md", import.meta.url), "utf8");
  const [, rights] = /```yaml\n(apiVersion: rbac[^`]+)```/.exec(page) ?? [];
  if (rights === undefined) throw new Error("docs/explanation/bootstrap.md shows no rights");
  await controlPlane.kubectl(["apply", "-f", "-"], { input: rights });
  const user = "system:serviceaccount:kube-system:cloud-controller-manager";
  const others = ["nodes", "nodes/status", "services", "persistentvolumes", "events", "namespaces", "configmaps"];
  const resources = [...others, "leases.coordination.k8s.io"].join(",");
  const verbs = "get,list,watch,create,patch,update";
  await controlPlane.kubectl(["create", "clusterrole", "others", `--verb=${verbs}`, `--resource=${resources}`]);
  await controlPlane.kubectl(["create", "clusterrolebinding", "others", "--clusterrole=others", `--user=${user}`]);
  return (await controlPlane.kubeconfigFor(user)).path;
}

async function startKubelet(name: string, options: { readonly providerId?: string } = {}): Promise<void> {
  kubelets.push(name);
  await controlPlane.startHollowNode(name, { servingCertificate: "bootstrap", ...options });
}

/** A kubelet with a machine, and its first request once it is signed. */
async function startNode(name: string): Promise<Json> {
  await harness.createMachines([{ name, zone: "north-a" }]);
  await startKubelet(name);
  return signed(await requestOf(name));
}

/** Name of the newest request of the node's kubelet, once there is one that is not among `known`. */
async function requestOf(node: string, known: readonly string[] = []): Promise<string> {
  return eventually(
    `a request of ${node}`,
    WAIT_MS,
    async () => {
      const requests = await harness.kube.items(REQUESTS);
      const own = requests.filter((request) => at(request, "spec", "username") === `system:node:${node}`);
      return own.map((request) => String(at(request, "metadata", "name"))).find((request) => !known.includes(request));
    },
    () => harness.outputs(),
  );
}

async function signed(name: string): Promise<Json> {
  return eventually(
    `request ${name} to be signed`,
    WAIT_MS,
    async () => {
      const request = await harness.kube.get(`${REQUESTS}/${name}`);
      return typeof at(request, "status", "certificate") === "string" ? request : undefined;
    },
    () => harness.outputs(),
  );
}

/** Asks once more for what `request` asks, as another request, by anyone who has the kubeconfig. */
async function askAgain(request: Json, name: string, as: string, spec: object = {}): Promise<void> {
  const body = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: at(request, "spec", "request"), signerName: SIGNER, usages: USAGES, ...spec },
  };
  await controlPlane.kubectl(["create", "-f", "-"], { input: JSON.stringify(body), kubeconfig: as });
}

async function kubeconfigOf(node: string): Promise<string> {
  const { path } = await controlPlane.kubeconfigFor(`system:node:${node}`, ["system:nodes"]);
  return path;
}

/** The first event about the object that matches. */
async function eventAbout(kind: string, name: string, message: RegExp): Promise<string> {
  return eventually(
    `an event about ${kind} ${name} that says ${message}`,
    WAIT_MS,
    async () => {
      const selector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
      const events = await harness.kube.items(`/api/v1/events?fieldSelector=${selector}`);
      return events
        .map((event) => `${String(event["reason"])}: ${String(event["message"])}`)
        .find((text) => message.test(text));
    },
    () => harness.outputs(),
  );
}

async function conditionsOf(name: string): Promise<readonly Json[]> {
  return listOf(at(await harness.kube.get(`${REQUESTS}/${name}`), "status", "conditions"));
}

function certificateOf(request: Json): X509Certificate {
  return new X509Certificate(Buffer.from(String(at(request, "status", "certificate")), "base64"));
}

async function machineId(name: string): Promise<string> {
  const { items } = await harness.cloud.listInstances(
    { pageSize: 1000, consistent: true },
    AbortSignal.timeout(10_000),
  );
  const machine = items.find((item) => item.name === name && item.state !== "terminated");
  if (machine === undefined) throw new Error(`no machine ${name}`);
  return machine.id;
}

describe("kubelet-serving-csr-approver on a real control plane", () => {
  test("approves a kubelet's certificate for the cloud's addresses, with only the documented permissions", async () => {
    await harness.startSidecar();
    const controller = startApprover(documentedRights);
    const request = await startNode("boot-a");
    const node = await harness.kube.get("/api/v1/nodes/boot-a");
    const addresses = listOf(at(node, "status", "addresses")).map(({ address }) => String(address));
    const [approved] = listOf(at(request, "status", "conditions"));
    expect(approved).toMatchObject({ type: "Approved", status: "True", reason: "AutoApproved" });
    expect(String(approved?.["message"])).toMatch(/^According to the cloud, sim:\/\/\S+ is node boot-a and has: /);
    const names = certificateOf(request)
      .subjectAltName?.split(", ")
      .map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
    expect(new Set(names)).toEqual(new Set(addresses));
    expect(
      await harness.metric(controller, /^cloudwire_kubelet_serving_csr_decisions_total\{decision="approved"\}/),
    ).toBe(1);
  });

  test("leaves an address that the cloud does not know pending, says so, and approves once the cloud knows it", async () => {
    await harness.startSidecar();
    startApprover();
    const first = await startNode("late-a");
    // Anyone who may write the Node's status may claim addresses: the kubelet asks for them at once.
    const added = { type: "ExternalIP", address: "203.0.113.77" };
    const addresses = listOf(at(await harness.kube.get("/api/v1/nodes/late-a"), "status", "addresses"));
    await harness.kube.patch("/api/v1/nodes/late-a/status", { status: { addresses: [...addresses, added] } });
    const name = await requestOf("late-a", [String(at(first, "metadata", "name"))]);
    const why = /KubeletServingCSRNotApproved: .* does not have "203\.0\.113\.77"/;
    await eventAbout("CertificateSigningRequest", name, why);
    await eventAbout("Node", "late-a", why);
    expect(await conditionsOf(name)).toEqual([]);
    const id = await machineId("late-a");
    await harness.cloud.patchInstance(id, { externalAddresses: ["203.0.113.77"] }, AbortSignal.timeout(10_000));
    expect(certificateOf(await signed(name)).subjectAltName).toContain("203.0.113.77");
  });

  test("does not let one node ask for another, nor touch another signer's requests", async () => {
    await harness.startSidecar();
    startApprover();
    const request = await startNode("pair-a");
    // The API server refuses another node; others may ask, and are refused here.
    await expect(askAgain(request, "by-node", await kubeconfigOf("pair-b"))).rejects.toThrow(
      /can only create a node CSR with CN/,
    );
    await askAgain(request, "by-admin", controlPlane.kubeconfigPath);
    await askAgain(request, "for-clients", controlPlane.kubeconfigPath, {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    });
    await eventAbout("CertificateSigningRequest", "by-admin", /it is for "system:node:pair-a", but ".*" created it/);
    // A right one that came later is through: the others were passed by.
    await askAgain(request, "by-itself", await kubeconfigOf("pair-a"));
    await signed("by-itself");
    expect([await conditionsOf("by-admin"), await conditionsOf("for-clients")]).toEqual([[], []]);
    expect(await harness.eventReasons("CertificateSigningRequest", "for-clients")).toEqual([]);
  });

  test("waits for a provider that is away, and approves when it is back", async () => {
    const sidecar = await harness.startSidecar();
    const before = startApprover();
    const request = await startNode("out-a");
    await sidecar.stop("SIGKILL");
    // What it has just read would do for some seconds.
    await before.stop();
    startApprover();
    await askAgain(request, "meanwhile", await kubeconfigOf("out-a"));
    await eventAbout("CertificateSigningRequest", "meanwhile", /could not look up its instance/);
    expect(await conditionsOf("meanwhile")).toEqual([]);
    await harness.startSidecar();
    await signed("meanwhile");
  });

  test("leaves a request pending whose machine is gone", async () => {
    await harness.startSidecar();
    const before = startApprover();
    const request = await startNode("gone-a");
    await before.stop();
    startApprover();
    await harness.cloud.terminateInstances([await machineId("gone-a")], AbortSignal.timeout(10_000));
    await askAgain(request, "too-late", await kubeconfigOf("gone-a"));
    await eventAbout("CertificateSigningRequest", "too-late", /its instance does not exist|is terminating/);
    expect(await conditionsOf("too-late")).toEqual([]);
  });

  test("does not believe a Node that has taken another's machine", async () => {
    await harness.startSidecar();
    startApprover();
    const victim = await startNode("victim-a");
    const theirs = String(at(await harness.kube.get("/api/v1/nodes/victim-a"), "spec", "providerID"));
    await startKubelet("thief-a", { providerId: theirs });
    const name = await requestOf("thief-a");
    await eventAbout("CertificateSigningRequest", name, /the name of instance "\S+" is not "thief-a"/);
    expect(await conditionsOf(name)).toEqual([]);
    expect(certificateOf(victim).subject).toContain("CN=system:node:victim-a");
  });
});

test("the approver is off unless it is named, whatever else runs", async () => {
  await harness.startSidecar();
  const controller = harness.startController();
  await harness.createMachines([{ name: "off-a", zone: "north-a" }]);
  await startKubelet("off-a");
  const name = await requestOf("off-a");
  await controller.said(/Controller started/);
  expect(await conditionsOf(name)).toEqual([]);
  expect(controller.output).not.toContain("kubelet-serving-csr-approver");
});
