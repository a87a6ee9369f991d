import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import type { Clock } from "../../util/clock.ts";
import { type ApiAccess, AccessError } from "./access.ts";

/** Where kubelet mounts it. client-go/rest/config.go v0.36.3. */
const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Kubelet rotates the token well before it ends; client-go re-reads it as often (transport/token_source.go v0.36.3). */
const REREAD_MS = 60_000;

export interface InClusterDependencies {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly directory?: string;
}

/** The service account of the pod. Needs none of client-node, which alone costs 15 MiB. */
export async function inClusterAccess(dependencies: InClusterDependencies): Promise<ApiAccess> {
  const { environment, clock, directory = SERVICE_ACCOUNT_DIR } = dependencies;
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || host === "" || port === undefined || port === "") {
    throw new AccessError(
      "cannot find the API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no pod; pass --kubeconfig",
    );
  }
  const files = new ServiceAccountFiles(directory, clock);
  await files.read(false);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    description: "in-cluster service account",
    proxyUrl: undefined,
    credentials: async (renew) => {
      const { token, ca } = await files.read(renew);
      return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
    },
  };
}

interface Files {
  readonly token: string;
  readonly ca: string;
}

class ServiceAccountFiles {
  readonly #directory: string;
  readonly #clock: Clock;
  #last: Files | undefined;
  #readAtMs = 0;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  async read(renew: boolean): Promise<Files> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && !renew && nowMs - this.#readAtMs < REREAD_MS) return this.#last;
    try {
      const [token, ca] = await Promise.all([this.#file("token"), this.#file("ca.crt")]);
      this.#last = { token: token.trim(), ca };
      this.#readAtMs = nowMs;
      return this.#last;
    } catch (error) {
      // A file being replaced just now is no reason to stop: the last token is most likely still good.
      if (this.#last !== undefined) return this.#last;
      throw new AccessError(
        `cannot read the pod's service account in ${this.#directory}: is automountServiceAccountToken off?`,
        { cause: error },
      );
    }
  }

  #file(name: string): Promise<string> {
    return readFile(`${this.#directory}/${name}`, "utf8");
  }
}
