import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { at, type Kube } from "@cloudwire/test";

const NAMESPACE = "kube-system";
const NAME = "cloud-controller-manager";
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
const LIFETIME_SECONDS = 86_400;

/** As audit logs name it. */
export const SERVICE_ACCOUNT_USER = `system:serviceaccount:${NAMESPACE}:${NAME}`;

/** Who comes as the service account. */
export interface ServiceAccountAccess {
  readonly kubeconfigPath: string;
  readonly token: string;
}

/** The address of the API server. */
export interface ApiServerAddress {
  readonly server: string;
  readonly caPem: string;
}

/**
 * A kubeconfig with the token of a service account that may do everything. A cloud-controller-manager in a pod has a token; a client
 * certificate, which the API server verifies for each request, would cost it half a millisecond of CPU per request.
 */
export async function serviceAccountAccess(
  kube: Kube,
  api: ApiServerAddress,
  directory: string,
): Promise<ServiceAccountAccess> {
  await kube.create(ACCOUNTS, { metadata: { name: NAME } });
  await kube.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: NAME },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }],
  });
  const request = { spec: { expirationSeconds: LIFETIME_SECONDS } };
  const token = String(at(await kube.create(`${ACCOUNTS}/${NAME}/token`, request), "status", "token"));
  const kubeconfigPath = join(directory, "kubeconfig");
  await writeFile(kubeconfigPath, JSON.stringify(kubeconfig(api, token)), { mode: 0o600 });
  return { kubeconfigPath, token };
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
