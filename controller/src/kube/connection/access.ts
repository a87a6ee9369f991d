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
