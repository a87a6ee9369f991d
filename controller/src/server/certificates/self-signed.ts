import { X509Certificate, createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { ADDRESS_BITS, parseCidr } from "../../util/cidr.ts";

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface SelfSignedRequest {
  readonly commonName: string;
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
  /** It must end before 2050. */
  readonly validMs: number;
}

/** Tolerates clocks that are behind. */
const BACKDATED_MS = 3_600_000;

const OID = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
} as const;

/** A self-signed serving certificate with a new P-256 key (RFC 5280). Node has no API for the encoding, which is all that is done here. */
export function selfSignedCertificate({ commonName, hosts, nowMs, validMs }: SelfSignedRequest): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }));
  const name = sequence(set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const toBeSigned = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(serialNumber()),
    algorithm,
    name,
    sequence(utcTime(nowMs - BACKDATED_MS), utcTime(nowMs + validMs)),
    name,
    spki,
    explicit(3, sequence(...extensions(spki, hosts))),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  return {
    certificate: new X509Certificate(sequence(toBeSigned, algorithm, bitString(signature))).toString(),
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
}

/** Also a CA (basicConstraints): some verifiers do not accept a leaf certificate as a root. */
function extensions(spki: Der, hosts: readonly string[]): readonly Der[] {
  // digitalSignature and keyCertSign: bits 0 and 5.
  const usage = bitString(Uint8Array.of(0b1000_0100), 2);
  return [
    extension(OID.basicConstraints, true, sequence(TRUE)),
    extension(OID.keyUsage, true, usage),
    extension(OID.extendedKeyUsage, false, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectKeyIdentifier, false, octetString(createHash("sha1").update(spki).digest())),
    extension(OID.subjectAltName, false, sequence(...hosts.map(generalName))),
  ];
}

function extension(id: string, isCritical: boolean, value: Der): Der {
  return sequence(objectIdentifier(id), ...(isCritical ? [TRUE] : []), octetString(value));
}

/** dNSName [2] or iPAddress [7]. */
function generalName(host: string): Der {
  return isIP(host) === 0 ? implicit(2, new TextEncoder().encode(host)) : implicit(7, addressBytes(host));
}

function addressBytes(address: string): Uint8Array {
  const bits = isIP(address) === 4 ? ADDRESS_BITS.IPv4 : ADDRESS_BITS.IPv6;
  const number = parseCidr(`${address}/${bits}`)?.first ?? 0n;
  return Buffer.from(number.toString(16).padStart(bits / 4, "0"), "hex");
}

/** 16 bytes; the first bit is clear (not negative), the second set (no leading zero). */
function serialNumber(): Uint8Array {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

/** DER (ITU-T X.690), as far as this certificate needs it. */
export type Der = Uint8Array<ArrayBuffer>;

/** One element: tag, length, content. */
function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const bytes = Uint8Array.from(Buffer.concat(content));
  return Uint8Array.from([tag, ...lengthOf(bytes.length), ...bytes]);
}

export const sequence = (...items: readonly Der[]): Der => element(0x30, ...items);
export const set = (...items: readonly Der[]): Der => element(0x31, ...items);
export const octetString = (bytes: Uint8Array): Der => element(0x04, bytes);
export const utf8String = (text: string): Der => element(0x0c, new TextEncoder().encode(text));
export const TRUE: Der = element(0x01, Uint8Array.of(0xff));

/** @param bytes big-endian, not negative, without leading zeros */
export const integer = (bytes: Uint8Array): Der => element(0x02, bytes);

/** Bits from the left; the last `unusedBits` bits are ignored. */
export const bitString = (bytes: Uint8Array, unusedBits = 0): Der => element(0x03, Uint8Array.of(unusedBits), bytes);

/** `[number]` around one element. */
export const explicit = (number: number, item: Der): Der => element(0xa0 + number, item);

/** `[number]` instead of a primitive's tag. */
export const implicit = (number: number, bytes: Uint8Array): Der => element(0x80 + number, bytes);

/** UTCTime: years 1950 to 2049, whole seconds. */
export function utcTime(ms: number): Der {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, "");
  return element(0x17, new TextEncoder().encode(`${digits.slice(2, 14)}Z`));
}

export function objectIdentifier(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** Seven bits per byte; all but the last have the eighth set. */
function base128(arc: number): readonly number[] {
  const bytes = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left % 128) + 128);
  return bytes;
}

function lengthOf(length: number): readonly number[] {
  if (length < 128) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return [128 + bytes.length, ...bytes];
}
