import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { DerError } from "./der.ts";

/** What a key is, as far as it matters whether it is good enough. */
export type PublicKeyFacts =
  | { readonly kind: "RSA"; readonly bits: number; readonly exponent: bigint }
  | { readonly kind: "EC"; readonly curve: string }
  | { readonly kind: "Ed25519" }
  | { readonly kind: "other"; readonly name: string };

/** "unsupported": of an algorithm that is not accepted, and so not checked. */
export type SignatureVerdict = "valid" | "invalid" | "unsupported";

/** What was signed, with what, and the signature itself. */
export interface Signed {
  readonly data: Uint8Array;
  /** The whole AlgorithmIdentifier. */
  readonly algorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** Larger RSA keys are not worth the time their signature takes. */
const MAX_RSA_BITS = 8192;

/**
 * By the whole AlgorithmIdentifier in hex, parameters included, for the signature does not cover it: digest, and the type of key it goes
 * with. RFC 4055 section 5, RFC 5758 section 3.2, RFC 8410 section 3.
 */
const SIGNATURES: ReadonlyMap<string, { readonly keyType: string; readonly digest: string | null }> = new Map([
  ["300d06092a864886f70d01010b0500", { keyType: "rsa", digest: "sha256" }],
  ["300d06092a864886f70d01010c0500", { keyType: "rsa", digest: "sha384" }],
  ["300d06092a864886f70d01010d0500", { keyType: "rsa", digest: "sha512" }],
  ["300a06082a8648ce3d040302", { keyType: "ec", digest: "sha256" }],
  ["300a06082a8648ce3d040303", { keyType: "ec", digest: "sha384" }],
  ["300a06082a8648ce3d040304", { keyType: "ec", digest: "sha512" }],
  ["300506032b6570", { keyType: "ed25519", digest: null }],
]);

/** The key of a SubjectPublicKeyInfo. Throws {@link DerError}. */
export function publicKeyOf(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (error) {
    throw new DerError("its public key cannot be read", { cause: error });
  }
}

/** What there is to judge a key by. */
export function factsOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): PublicKeyFacts {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = "" } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case "rsa":
      return { kind: "RSA", bits: modulusLength, exponent: publicExponent };
    case "ec":
      return { kind: "EC", curve: namedCurve };
    case "ed25519":
      return { kind: "Ed25519" };
    default:
      return { kind: "other", name: asymmetricKeyType ?? "unknown" };
  }
}

/** Whether the key has signed it. */
export function checkSignature(key: KeyObject, { data, algorithm, signature }: Signed): SignatureVerdict {
  const known = SIGNATURES.get(Buffer.from(algorithm).toString("hex"));
  const facts = factsOf(key);
  const isTooLarge = facts.kind === "RSA" && facts.bits > MAX_RSA_BITS;
  if (known === undefined || known.keyType !== key.asymmetricKeyType || isTooLarge) return "unsupported";
  return verify(known.digest, data, key, signature) ? "valid" : "invalid";
}
