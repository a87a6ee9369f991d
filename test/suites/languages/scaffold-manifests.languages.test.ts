import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const createProvider = join(ROOT, "provider-sdk/create/src/main.ts");

let controlPlane: ControlPlane;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
}, 900_000);
afterAll(() => controlPlane.stop());

const DRY_RUN = ["apply", "--dry-run=server", "--validate=strict", "-o", "json"] as const;

/** Where clients in a pod look for their token. */
const TOKEN_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The controller as a cluster may have it: what the component of a generated project is put into. */
const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: cloud-controller-manager, namespace: kube-system }
spec:
  selector: { matchLabels: { app: ccm } }
  template:
    metadata: { labels: { app: ccm } }
    spec:
      containers:
        - name: controller
          image: cloudwire-controller-manager
          args: [--v=2]
          env: [{ name: TZ, value: UTC }]
`;

const KUSTOMIZATION = `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [ccm.yaml]
components: [zeta/deploy]
images: [{ name: zeta, newName: example.com/zeta, newTag: 1.2.3 }]
`;

describe("the deploy directory of a generated project", () => {
  test("puts a sidecar beside the controller which shares the socket with it and nothing else", async () => {
    const directory = await mkdtemp(join(tmpdir(), "scaffold-deploy-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await writeFile(join(directory, "ccm.yaml"), DEPLOYMENT);
    await writeFile(join(directory, "kustomization.yaml"), KUSTOMIZATION);
    const args = [
      "--conditions=development",
      createProvider,
      "zeta",
      "--language=go",
      `--dir=${join(directory, "zeta")}`,
    ];
    await promisify(execFile)(process.execPath, args);

    const deployment: unknown = JSON.parse(await controlPlane.kubectl([...DRY_RUN, "-k", directory]));

    const pod = at(deployment, "spec", "template", "spec");
    const socketDirectory = { name: "cloud-provider", mountPath: "/run/cloud-provider" };
    // Only the controller gets permissions in the cluster.
    expect(at(pod, "automountServiceAccountToken")).toBe(false);
    expect(listOf(at(pod, "initContainers"))).toEqual([
      expect.objectContaining({
        name: "zeta",
        image: "example.com/zeta:1.2.3",
        restartPolicy: "Always",
        securityContext: expect.objectContaining({
          runAsNonRoot: true,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        }),
        volumeMounts: [socketDirectory, { name: "zeta-token", mountPath: "/run/secrets/zeta", readOnly: true }],
      }),
    ]);
    expect(listOf(at(pod, "containers"))).toEqual([
      expect.objectContaining({
        name: "controller",
        args: ["--v=2"],
        env: expect.arrayContaining([
          { name: "TZ", value: "UTC" },
          { name: "CLOUDWIRE_PROVIDER", value: "zeta=unix:///run/cloud-provider/zeta.sock" },
        ]),
        volumeMounts: [socketDirectory, { name: "kube-api-access", mountPath: TOKEN_DIRECTORY, readOnly: true }],
      }),
    ]);
  });
});
