import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import type { Clock } from "../../util/clock.ts";

/** How to reach and convince one API server. */
export interface ApiAccess {
  /** Base URL, such as https://10.96.0.1:443; may carry a path. */
  readonly server: string;
  /** Where this came from, for messages: "in-cluster service account" or "kubeconfig /path, context x". */
  readonly description: string;
  /** HTTP(S) proxy to go through. */
  readonly proxyUrl: string | undefined;
  /** What to present with the next request. `renew` is set after the server answered 401: whatever was cached is stale. */
  credentials(renew: boolean): Promise<Credentials>;
}

export interface Credentials {
  /** Such as Authorization. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** The parts of node:tls options that a kubeconfig can set. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly passphrase?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** The configuration of the access itself is wrong: nothing to retry, an operator has to change something. */
export class AccessError extends Error {
  readonly code = "KUBE_ACCESS";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AccessError";
  }
}

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
