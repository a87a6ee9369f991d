import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Certificates, type KeyPair, makeCertificates } from "./certificates.ts";
import type { Layout } from "../components/arguments.ts";
import { formatKubeconfig, type Kubeconfig } from "./kubeconfig.ts";

/** The authority of a control plane and what it has to sign before anything can start. */
export interface Identities {
  readonly authority: KeyPair;
  /** Group system:masters: may do everything. */
  readonly admin: KeyPair;
  readonly scheduler: KeyPair;
  readonly controllerManager: KeyPair;
}

/** Makes them, and writes the files that the programs read. */
export async function createIdentities(binDir: string, layout: Layout): Promise<Identities> {
  const frontProxy = makeCertificates(binDir, { "front-proxy-client": { commonName: "front-proxy-client" } });
  const made = await makeCertificates(binDir, {
    server: { commonName: "kube-apiserver", hosts: ["127.0.0.1", "localhost", "kubernetes.default.svc"] },
    "service-account": { commonName: "service-account" },
    "kubelet-client": { commonName: "kube-apiserver-kubelet-client" },
    admin: { commonName: "admin", organizations: ["system:masters"] },
    scheduler: { commonName: "system:kube-scheduler" },
    controllerManager: { commonName: "system:kube-controller-manager" },
  });
  await writeKeyPairs(layout, {
    ca: made.authority,
    server: made.certificateOf("server"),
    "service-account": made.certificateOf("service-account"),
    "kubelet-client": made.certificateOf("kubelet-client"),
    ...frontProxyPairs(await frontProxy),
  });
  return {
    authority: made.authority,
    admin: made.certificateOf("admin"),
    scheduler: made.certificateOf("scheduler"),
    controllerManager: made.certificateOf("controllerManager"),
  };
}

/** A separate authority: a client with a certificate of it may claim to be any user. */
function frontProxyPairs(made: Certificates): Readonly<Record<string, KeyPair>> {
  return { "front-proxy-ca": made.authority, "front-proxy-client": made.certificateOf("front-proxy-client") };
}

async function writeKeyPairs(layout: Layout, pairs: Readonly<Record<string, KeyPair>>): Promise<void> {
  for (const [name, pair] of Object.entries(pairs)) {
    await writeFile(path.join(layout.pki, `${name}.crt`), pair.certificate);
    await writeFile(path.join(layout.pki, `${name}.key`), pair.key, { mode: 0o600 });
  }
}

/** Writes `<name>.kubeconfig` for a client of the server. */
export async function writeKubeconfig(
  layout: Layout,
  name: string,
  { server, caPem }: { readonly server: string; readonly caPem: string },
  client: KeyPair,
): Promise<Kubeconfig> {
  const file = path.join(layout.kubeconfigs, `${name}.kubeconfig`);
  const content = formatKubeconfig(server, caPem, client);
  await writeFile(file, content, { mode: 0o600 });
  return { path: file, content, client };
}
