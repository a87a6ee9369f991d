import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** P-256, as a kubelet makes them. */
export const ecKey = (namedCurve = "P-256"): KeyPair => generateKeyPairSync("ec", { namedCurve });
export const rsaKey = (modulusLength: number, publicExponent = 65_537): KeyPair =>
  generateKeyPairSync("rsa", { modulusLength, publicExponent });
export const ed25519Key = (): KeyPair => generateKeyPairSync("ed25519");
export const mlDsa44Key = (): KeyPair => generateKeyPairSync("ml-dsa-44");
export const mlDsa65Key = (): KeyPair => generateKeyPairSync("ml-dsa-65");
export const mlDsa87Key = (): KeyPair => generateKeyPairSync("ml-dsa-87");

export const OIDS = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  organizationalUnit: "2.5.4.11",
  extensionRequest: "1.2.840.113549.1.9.14",
  challengePassword: "1.2.840.113549.1.9.7",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  sha256WithRsa: "1.2.840.113549.1.1.11",
  sha384WithRsa: "1.2.840.113549.1.1.12",
  sha512WithRsa: "1.2.840.113549.1.1.13",
  sha1WithRsa: "1.2.840.113549.1.1.5",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  ecdsaWithSha384: "1.2.840.10045.4.3.3",
  ecdsaWithSha512: "1.2.840.10045.4.3.4",
  ed25519: "1.3.101.112",
  mlDsa44: "2.16.840.1.101.3.4.3.17",
  mlDsa65: "2.16.840.1.101.3.4.3.18",
  mlDsa87: "2.16.840.1.101.3.4.3.19",
} as const;

/** One DER element. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => der(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Uint8Array => der(0x31, ...parts);
export const utf8 = (text: string): Uint8Array => der(0x0c, Buffer.from(text));
export const printable = (text: string): Uint8Array => der(0x13, Buffer.from(text));

export function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

export const dns = (name: string): Uint8Array => der(0x82, Buffer.from(name, "latin1"));
export const email = (name: string): Uint8Array => der(0x81, Buffer.from(name));
export const uri = (name: string): Uint8Array => der(0x86, Buffer.from(name));

/** `10.0.0.1`, or an IPv6 address written as eight groups. */
export function ip(address: string): Uint8Array {
  const groups = address.split(":").map((group) => group.padStart(4, "0"));
  return der(
    0x87,
    groups.length > 1 ? Buffer.from(groups.join(""), "hex") : Buffer.from(address.split(".").map(Number)),
  );
}

export interface RequestParts {
  readonly key?: KeyPair;
  /** Object identifier and value, one name each. */
  readonly subject?: readonly (readonly [string, string])[];
  readonly names?: readonly Uint8Array[];
  /** Instead of the one that asks for `names`. */
  readonly attributes?: readonly Uint8Array[];
  readonly algorithm?: string;
  readonly digest?: string;
  /** Instead of `subject`: the one value of a common name. */
  readonly subjectText?: Uint8Array;
  /** Instead of the key's own. */
  readonly spki?: Uint8Array;
  /** Changes the signature. */
  readonly tamper?: (signature: Uint8Array) => Uint8Array;
}

/** Subject of the node's kubelet. */
export function nodeSubject(name: string): readonly (readonly [string, string])[] {
  return [
    [OIDS.organization, "system:nodes"],
    [OIDS.commonName, `system:node:${name}`],
  ];
}

/** A PKCS#10 request in DER; all that is left out is as the kubelet of node-a asks. */
export function requestDer(parts: RequestParts = {}): Uint8Array {
  const { key = ecKey(), subject = nodeSubject("node-a"), tamper = (bytes) => bytes } = parts;
  const names = parts.names ?? [dns("node-a"), ip("10.0.0.1")];
  const attributes = parts.attributes ?? [extensionRequest(subjectAltName(...names))];
  const texts = subject.map(([type, value]) => [type, printable(value)] as const);
  const values = parts.subjectText === undefined ? texts : [[OIDS.commonName, parts.subjectText] as const];
  const info = sequence(
    der(0x02, Buffer.of(0)),
    sequence(...values.map(([type, value]) => setOf(sequence(oid(type), value)))),
    parts.spki ?? key.publicKey.export({ format: "der", type: "spki" }),
    der(0xa0, ...attributes),
  );
  const { algorithm, digest } = signatureOf(key);
  const signature = tamper(sign(parts.digest ?? digest, info, key.privateKey));
  return sequence(info, algorithmIdentifier(parts.algorithm ?? algorithm), der(0x03, Buffer.of(0), signature));
}

/** `spec.request`: base64 of the PEM text. */
export function encodeRequest(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString("base64")
    .replaceAll(/.{1,64}/g, "$&\n");
  return Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${lines}-----END CERTIFICATE REQUEST-----\n`).toString(
    "base64",
  );
}

export const request = (parts: RequestParts = {}): string => encodeRequest(requestDer(parts));

export function attribute(type: string, ...values: readonly Uint8Array[]): Uint8Array {
  return sequence(oid(type), setOf(...values));
}

export function extensionRequest(...extensions: readonly Uint8Array[]): Uint8Array {
  return attribute(OIDS.extensionRequest, sequence(...extensions));
}

/** A critical one says so before its value. */
export function extension(type: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(oid(type), ...(critical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
}

export const subjectAltName = (...names: readonly Uint8Array[]): Uint8Array =>
  extension(OIDS.subjectAltName, sequence(...names));

function base128(number: number): readonly number[] {
  const digits = [number & 0x7f];
  for (let rest = number >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

/** Of a signature, by the type of its key; ECDSA is the default. */
const SIGNATURES: ReadonlyMap<string, { readonly algorithm: string; readonly digest: string | null }> = new Map([
  ["rsa", { algorithm: OIDS.sha256WithRsa, digest: "sha256" }],
  ["ed25519", { algorithm: OIDS.ed25519, digest: null }],
  ["ml-dsa-44", { algorithm: OIDS.mlDsa44, digest: null }],
  ["ml-dsa-65", { algorithm: OIDS.mlDsa65, digest: null }],
  ["ml-dsa-87", { algorithm: OIDS.mlDsa87, digest: null }],
]);

function signatureOf({ privateKey }: KeyPair): { readonly algorithm: string; readonly digest: string | null } {
  const known = SIGNATURES.get(privateKey.asymmetricKeyType ?? "");
  return known ?? { algorithm: OIDS.ecdsaWithSha256, digest: "sha256" };
}

/** Those of RSA have NULL for parameters, the others none. */
function algorithmIdentifier(algorithm: string): Uint8Array {
  return sequence(oid(algorithm), ...(algorithm.startsWith("1.2.840.113549.") ? [der(0x05)] : []));
}
