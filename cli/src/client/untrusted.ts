/** Codes of Node's TLS for a certificate that cannot be verified. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Why the other side's certificate is not believed, without what Node advises of itself; undefined: that is not the matter. */
export function whyUntrusted(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !UNTRUSTED.has(error.code)) return undefined;
  return error.message.split("; if the root CA", 1)[0];
}
