import { type KeyObject, createPublicKey, verify } from "node:crypto";
import { messageOf } from "../../util/errors.ts";
import { type DerElement, DerError, TAGS, oidText, readDer } from "./der.ts";

export interface CertificateRequest {
  readonly subject: readonly SubjectAttribute[];
  readonly dnsNames: readonly string[];
  /** IPv4 dotted, IPv6 as eight groups. An IPv4-mapped address is the IPv4 address. */
  readonly ipAddresses: readonly string[];
  readonly otherNames: readonly string[];
  /** Object identifiers of requested attributes and extensions other than alternative names. */
  readonly others: readonly string[];
  readonly publicKey: PublicKeyFacts;
  readonly signature: SignatureCheck;
}

export interface SubjectAttribute {
  /** Object identifier. */
  readonly type: string;
  readonly value: string;
}

/** A request, or why it cannot be read completely. */
export type ReadRequest =
  | { readonly kind: "read"; readonly request: CertificateRequest }
  | { readonly kind: "unreadable"; readonly message: string };

/** A request with 100 names and a key of RSA with 8,192 bits takes about 5 KiB, one of ML-DSA-87 about 10 KiB. */
const MAX_BYTES = 16_384;

/** RFC 2985 section 5.4.2, RFC 5280 section 4.2.1.6. */
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const SUBJECT_ALT_NAME = "2.5.29.17";

/**
 * Reads `spec.request`. Never throws. Stricter than the API server: a request is accepted only if it is understood completely, so that
 * nothing unchecked can be signed.
 */
export function readCertificateRequest(base64: string): ReadRequest {
  try {
    return { kind: "read", request: read(decodeRequestPem(base64, MAX_BYTES)) };
  } catch (error) {
    return { kind: "unreadable", message: messageOf(error) };
  }
}

/** CertificationRequest, RFC 2986 section 4.2. */
function read(der: Uint8Array): CertificateRequest {
  const [whole] = list(readDer(der), 1, 1, "request");
  const [info, algorithm, signature] = list(within(whole, TAGS.sequence, "request"), 3, 3, "request");
  const [, subject, spki, attributes] = list(within(info, TAGS.sequence, "information"), 3, 4, "information");
  const key = publicKeyOf(rawOf(spki));
  return {
    subject: subjectOf(subject),
    ...namesOf(attributes === undefined ? NO_EXTENSIONS : extensionsOf(attributes)),
    publicKey: factsOf(key),
    signature: checkSignature(key, { data: rawOf(info), algorithm: rawOf(algorithm), signature: bitsOf(signature) }),
  };
}

/** RDNSequence. Attributes of one name are flattened. */
function subjectOf(subject: DerElement | undefined): readonly SubjectAttribute[] {
  return within(subject, TAGS.sequence, "subject").flatMap((rdn) =>
    within(rdn, TAGS.set, "subject").map((attribute) => {
      const [type, value] = list(within(attribute, TAGS.sequence, "subject"), 2, 2, "subject");
      return { type: oidOf(type, "subject"), value: textOf(value) };
    }),
  );
}

function textOf(value: DerElement | undefined): string {
  if (value?.tag !== TAGS.utf8String && value?.tag !== TAGS.printableString) {
    throw new DerError("a subject attribute is neither UTF8String nor PrintableString");
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value.content);
}

interface Extensions {
  /** Content of extension subjectAltName. */
  readonly altNames: Uint8Array | undefined;
  readonly others: readonly string[];
}

const NO_EXTENSIONS: Extensions = { altNames: undefined, others: [] };

function extensionsOf(attributes: DerElement): Extensions {
  const others: string[] = [];
  let requested: Extensions | undefined;
  for (const attribute of within(attributes, ATTRIBUTES, "attributes")) {
    const [type, values] = list(within(attribute, TAGS.sequence, "attribute"), 2, 2, "attribute");
    const id = oidOf(type, "attribute");
    if (id !== EXTENSION_REQUEST) others.push(id);
    else if (requested !== undefined) throw new DerError("it has two lists of extensions");
    else requested = extensionsIn(values);
  }
  const { altNames, others: further } = requested ?? NO_EXTENSIONS;
  return { altNames, others: [...others, ...further] };
}

const ATTRIBUTES = 0xa0;

function extensionsIn(values: DerElement | undefined): Extensions {
  const [value] = list(within(values, TAGS.set, "extensions"), 1, 1, "extensions");
  const others: string[] = [];
  let altNames: Uint8Array | undefined;
  for (const extension of within(value, TAGS.sequence, "extensions")) {
    const { id, value } = extensionOf(extension);
    if (id !== SUBJECT_ALT_NAME) others.push(id);
    else if (altNames !== undefined) throw new DerError("it has two lists of alternative names");
    else altNames = value;
  }
  return { altNames, others };
}

/** Extension, RFC 5280 section 4.1. Two octet strings are rejected, because Go (encoding/asn1) uses the first and ignores the rest. */
function extensionOf(extension: DerElement): { readonly id: string; readonly value: Uint8Array } {
  const parts = list(within(extension, TAGS.sequence, "extension"), 2, 3, "extension");
  const [type, critical] = parts;
  const value = parts.at(-1);
  if (parts.length === 3 && critical?.tag !== TAGS.boolean) throw bad("extension");
  if (value?.tag !== TAGS.octetString) throw bad("extension");
  return { id: oidOf(type, "extension"), value: value.content };
}

type Names = Pick<CertificateRequest, "dnsNames" | "ipAddresses" | "otherNames" | "others">;

/** GeneralNames, RFC 5280 section 4.2.1.6. */
function namesOf({ altNames, others }: Extensions): Names {
  const dnsNames: string[] = [];
  const ipAddresses: string[] = [];
  const otherNames: string[] = [];
  const [names] = altNames === undefined ? [] : list(readDer(altNames), 1, 1, "alternative names");
  for (const { tag, content } of names === undefined ? [] : within(names, TAGS.sequence, "alternative names")) {
    if (tag === NAME_TAGS.dns) dnsNames.push(Buffer.from(content).toString("latin1"));
    else if (tag === NAME_TAGS.ip) ipAddresses.push(ipText(content));
    else otherNames.push(tag === NAME_TAGS.email ? "email" : tag === NAME_TAGS.uri ? "URI" : "other");
  }
  return { dnsNames, ipAddresses, otherNames, others };
}

const NAME_TAGS = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;

const MAPPED_IPV4 = "00000000000000000000ffff";

function ipText(address: Uint8Array): string {
  const hex = Buffer.from(address).toString("hex");
  if (address.length === 4) return address.join(".");
  if (address.length !== 16) throw new DerError(`an IP address of ${address.length} bytes`);
  if (hex.startsWith(MAPPED_IPV4)) return address.subarray(12).join(".");
  return hex.replaceAll(/.{4}(?!$)/g, "$&:");
}

function within(element: DerElement | undefined, tag: number, what: string): readonly DerElement[] {
  if (element?.tag !== tag) throw bad(what);
  return readDer(element.content);
}

function list(elements: readonly DerElement[], min: number, max: number, what: string): readonly DerElement[] {
  if (elements.length < min || elements.length > max) throw bad(what);
  return elements;
}

function oidOf(element: DerElement | undefined, what: string): string {
  if (element?.tag !== TAGS.objectIdentifier) throw bad(what);
  return oidText(element.content);
}

/** Whole bytes only. */
function bitsOf(element: DerElement | undefined): Uint8Array {
  if (element?.tag !== TAGS.bitString || element.content[0] !== 0) throw bad("signature");
  return element.content.subarray(1);
}

function rawOf(element: DerElement | undefined): Uint8Array {
  if (element === undefined) throw bad("request");
  return element.raw;
}

function bad(what: string): DerError {
  return new DerError(`its ${what} part does not conform to RFC 2986`);
}

const PEM = /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;

/**
 * The bytes of the only PEM block in `base64`. Throws if there is anything else, because other readers skip what they cannot read and may
 * use another block.
 */
function decodeRequestPem(base64: string, maxBytes: number): Uint8Array {
  // Base64 of base64: 4/3 of 4/3, with room for line ends.
  if (base64.length > 2 * maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  const [, body] = PEM.exec(Buffer.from(base64, "base64").toString("latin1")) ?? [];
  if (body === undefined) throw new Error("it is not one PEM block of type CERTIFICATE REQUEST");
  const text = body.replaceAll(/[\r\n]/g, "");
  const der = Buffer.from(text, "base64");
  // Node ignores invalid base64 characters; other readers do not.
  if (der.toString("base64") !== text) throw new Error("its PEM block is not base64");
  return der;
}

/** The properties that decide whether a key is strong enough. */
export type PublicKeyFacts =
  | { readonly kind: "RSA"; readonly bits: number; readonly exponent: bigint }
  | { readonly kind: "EC"; readonly curve: string }
  | { readonly kind: "Ed25519" }
  | { readonly kind: "ML-DSA" }
  | { readonly kind: "other"; readonly name: string };

/** "unsupported": the algorithm is not accepted, and the signature is not checked. */
export type SignatureCheck = "valid" | "invalid" | "unsupported";

export interface Signed {
  readonly data: Uint8Array;
  /** The whole AlgorithmIdentifier. */
  readonly algorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** Verifying larger RSA keys takes too long. */
const MAX_RSA_BITS = 8192;

/**
 * By the complete AlgorithmIdentifier in hex, with parameters, because the signature does not cover it.
 * RFC 4055 section 5, RFC 5758 section 3.2, RFC 8410 section 3, RFC 9881 section 2.
 */
const SIGNATURES: ReadonlyMap<string, { readonly keyType: string; readonly digest: string | null }> = new Map([
  ["300d06092a864886f70d01010b0500", { keyType: "rsa", digest: "sha256" }],
  ["300d06092a864886f70d01010c0500", { keyType: "rsa", digest: "sha384" }],
  ["300d06092a864886f70d01010d0500", { keyType: "rsa", digest: "sha512" }],
  ["300a06082a8648ce3d040302", { keyType: "ec", digest: "sha256" }],
  ["300a06082a8648ce3d040303", { keyType: "ec", digest: "sha384" }],
  ["300a06082a8648ce3d040304", { keyType: "ec", digest: "sha512" }],
  ["300506032b6570", { keyType: "ed25519", digest: null }],
  ["300b0609608648016503040311", { keyType: "ml-dsa-44", digest: null }],
  ["300b0609608648016503040312", { keyType: "ml-dsa-65", digest: null }],
  ["300b0609608648016503040313", { keyType: "ml-dsa-87", digest: null }],
]);

/** The key of a SubjectPublicKeyInfo. Throws {@link DerError}. */
function publicKeyOf(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (error) {
    throw new DerError("its public key cannot be read", { cause: error });
  }
}

function factsOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): PublicKeyFacts {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = "" } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case "rsa":
      return { kind: "RSA", bits: modulusLength, exponent: publicExponent };
    case "ec":
      return { kind: "EC", curve: namedCurve };
    case "ed25519":
      return { kind: "Ed25519" };
    case "ml-dsa-44":
    case "ml-dsa-65":
    case "ml-dsa-87":
      return { kind: "ML-DSA" };
    default:
      return { kind: "other", name: asymmetricKeyType ?? "unknown" };
  }
}

function checkSignature(key: KeyObject, { data, algorithm, signature }: Signed): SignatureCheck {
  const known = SIGNATURES.get(Buffer.from(algorithm).toString("hex"));
  const facts = factsOf(key);
  const isTooLarge = facts.kind === "RSA" && facts.bits > MAX_RSA_BITS;
  if (known === undefined || known.keyType !== key.asymmetricKeyType || isTooLarge) return "unsupported";
  return verify(known.digest, data, key, signature) ? "valid" : "invalid";
}
