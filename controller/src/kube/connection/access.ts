import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import type { Clock } from "../../util/clock.ts";

/** Address and credentials of one API server. */
export interface ApiAccess {
  /** Base URL such as https://10.96.0.1:443, possibly with a path. */
  readonly server: string;
  /** Source of the access, for messages: "in-cluster service account" or "kubeconfig /path, context x". */
  readonly description: string;
  readonly proxyUrl: string | undefined;
  /** Credentials of the next request. `renew`: the server returned 401, so cached ones are stale. */
  credentials(renew: boolean): Promise<Credentials>;
}

export interface Credentials {
  /** For example Authorization. Never logged. */
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

/** The access configuration is invalid: retries are useless. */
export class AccessError extends Error {
  readonly code = "KUBE_ACCESS";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AccessError";
  }
}

/** kubelet's mount path. client-go/rest/config.go v0.36.3. */
const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Kubelet rotates the token well before it expires; client-go has the same interval (transport/token_source.go v0.36.3). */
const REREAD_MS = 60_000;

export interface InClusterDependencies {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly directory?: string;
}

/** The service account of the pod. Does not load client-node, which costs 15 MiB. */
export async function inClusterAccess(dependencies: InClusterDependencies): Promise<ApiAccess> {
  const { environment, clock, directory = SERVICE_ACCOUNT_DIR } = dependencies;
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || host === "" || port === undefined || port === "") {
    throw new AccessError(
      "cannot find the API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set (not in a pod?); pass --kubeconfig",
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

class ServiceAccountFiles {
  readonly #directory: string;
  readonly #clock: Clock;
  #last: { readonly token: string; readonly ca: string } | undefined;
  #readAtMs = 0;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  async read(renew: boolean): Promise<{ readonly token: string; readonly ca: string }> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && !renew && nowMs - this.#readAtMs < REREAD_MS) return this.#last;
    try {
      const files = ["token", "ca.crt"].map((name) => readFile(`${this.#directory}/${name}`, "utf8"));
      const [token = "", ca = ""] = await Promise.all(files);
      this.#last = { token: token.trim(), ca };
      this.#readAtMs = nowMs;
      return this.#last;
    } catch (error) {
      // The files may be being replaced: the last token is most likely still valid.
      if (this.#last !== undefined) return this.#last;
      const message = `cannot read the pod's service account in ${this.#directory}: is automountServiceAccountToken off?`;
      throw new AccessError(message, { cause: error });
    }
  }
}
