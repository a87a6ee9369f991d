/** What a kubeconfig has to name. */
export interface KubeconfigInput {
  readonly url: string;
  /** PEM of the certificate to trust, for https. */
  readonly certificate?: string | undefined;
  /** Bearer token; without it the client asks as the administrator. */
  readonly token?: string | undefined;
}

/** A kubeconfig for the cluster as JSON, which every reader of YAML takes too. */
export function formatKubeconfig({ url, certificate, token }: KubeconfigInput): string {
  const name = "devcluster";
  // Clients of several languages take plain HTTP, as of here on loopback, only with the flag for servers that prove nothing.
  const trust =
    certificate === undefined
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": Buffer.from(certificate).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...trust } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
