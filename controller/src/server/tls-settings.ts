import type { SecureVersion } from "node:tls";
import { opensslCiphers } from "./cipher-suites.ts";
import type { Options } from "../app/options.ts";

const VERSIONS: Readonly<Record<Options["tlsMinVersion"], SecureVersion>> = {
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** What node:tls takes for an oldest version and cipher suites as flags have them. */
export interface TlsSettings {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
}

export function tlsSettings(oldest: Options["tlsMinVersion"], suites: readonly string[]): TlsSettings {
  const ciphers = opensslCiphers(suites);
  return { minVersion: VERSIONS[oldest], ...(ciphers === undefined ? {} : { ciphers }) };
}
