import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { at, type Kube } from "@cloudwire/test";

const NAMESPACE = "kube-system";
const NAME = "cloud-controller-manager";
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
const LIFETIME_SECONDS = 86_400;

/** As audit logs name it. */
export const SERVICE_ACCOUNT_USER = `system:serviceaccount:${NAMESPACE}:${NAME}`;

/** What is needed to say where the API server is. */
export interface ApiServerAddress {
  readonly server: string;
  readonly caPem: string;
}

/**
 * A kubeconfig with the token of a service account that may do everything. A cloud-controller-manager in a pod has a token; a client
 * certificate, which the API server verifies anew with each request, would cost it half a millisecond of CPU a request more.
 */
export async function serviceAccountKubeconfig(kube: Kube, api: ApiServerAddress, folder: string): Promise<string> {
  await kube.create(ACCOUNTS, { metadata: { name: NAME } });
  await kube.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: NAME },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }],
  });
  const request = { spec: { expirationSeconds: LIFETIME_SECONDS } };
  const token = at(await kube.create(`${ACCOUNTS}/${NAME}/token`, request), "status", "token");
  const path = join(folder, "kubeconfig");
  await writeFile(path, JSON.stringify(kubeconfig(api, String(token))), { mode: 0o600 });
  return path;
}

function kubeconfig({ server, caPem }: ApiServerAddress, token: string): object {
  const name = "bench";
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") } }],
    users: [{ name, user: { token } }],
  };
}
