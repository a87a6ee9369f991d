import type { KeyPair } from "./certificates.ts";

/** A kubeconfig file with everything embedded. */
export interface Kubeconfig {
  readonly path: string;
  readonly content: string;
  /** The client certificate and its key, for clients that take no kubeconfig. */
  readonly client: KeyPair;
}

/** As JSON, which every reader of kubeconfig takes, being YAML too. */
export function formatKubeconfig(server: string, caPem: string, client: KeyPair): string {
  const name = "control-plane";
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(caPem) } }],
    users: [
      {
        name,
        user: {
          "client-certificate-data": base64(client.certificate),
          "client-key-data": base64(client.key),
        },
      },
    ],
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
