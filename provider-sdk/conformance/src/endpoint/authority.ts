import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { bits, bytes, der, number, oid, text, time } from "./der.ts";

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate is asked for. */
export interface Subject {
  readonly commonName: string;
  readonly use: "server" | "client";
  /** DNS names and IP addresses that it is for. */
  readonly hosts?: readonly string[];
}

const lifeMs = 24 * 3_600_000;
/** Clocks differ. */
const backdatedMs = 3_600_000;

const sequence = 0x30;
const ids = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  subjectKeyIdentifier: "2.5.29.14",
  extendedKeyUsage: "2.5.29.37",
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
} as const;

/** Bits of keyUsage: digitalSignature; keyCertSign. */
const mayProve = bits(Uint8Array.of(0b1000_0000), 7);
const maySign = bits(Uint8Array.of(0b0000_0100), 2);

/** An authority that lives as long as the run: it signs certificates for a day, on keys of P-256 (RFC 5280). */
export class Authority {
  /** Its own certificate, PEM. */
  readonly cert: string;
  readonly #name: Buffer;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });

  /** `name`: its common name, or the DER of the name of another authority that it pretends to be. */
  constructor(name: string | Uint8Array) {
    this.#name = typeof name === "string" ? distinguished(name) : Buffer.from(name);
    const basic = extension(ids.basicConstraints, der(sequence, der(0x01, Uint8Array.of(0xff))), true);
    this.cert = this.#signed(this.#name, this.#keys.publicKey, [basic, extension(ids.keyUsage, maySign, true)]);
  }

  /** A certificate and a new key of it. */
  issue({ commonName, use, hosts = [] }: Subject): KeyPair {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const cert = this.#signed(distinguished(commonName), publicKey, [
      extension(ids.keyUsage, mayProve, true),
      extension(ids.extendedKeyUsage, der(sequence, oid(ids[use]))),
      ...(hosts.length === 0 ? [] : [extension(ids.subjectAltName, der(sequence, ...hosts.map(alternativeName)))]),
    ]);
    return { cert, key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
  }

  #signed(subject: Buffer, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const algorithm = der(sequence, oid(ids.ecdsaWithSha256));
    const nowMs = Date.now();
    const toBeSigned = der(
      sequence,
      der(0xa0, number(Uint8Array.of(2))),
      number(serialNumber()),
      algorithm,
      this.#name,
      der(sequence, time(nowMs - backdatedMs), time(nowMs + lifeMs)),
      subject,
      publicKey.export({ format: "der", type: "spki" }),
      der(
        0xa3,
        der(
          sequence,
          ...extensions,
          extension(ids.subjectKeyIdentifier, bytes(keyIdentifier(publicKey))),
          extension(ids.authorityKeyIdentifier, der(sequence, der(0x80, keyIdentifier(this.#keys.publicKey)))),
        ),
      ),
    );
    const signature = sign("sha256", toBeSigned, this.#keys.privateKey);
    return new X509Certificate(der(sequence, toBeSigned, algorithm, bits(signature, 0))).toString();
  }
}

const distinguished = (commonName: string): Buffer =>
  der(sequence, der(0x31, der(sequence, oid(ids.commonName), text(commonName))));

const extension = (id: string, value: Buffer, critical = false): Buffer =>
  der(sequence, oid(id), ...(critical ? [der(0x01, Uint8Array.of(0xff))] : []), bytes(value));

/** dNSName [2] or iPAddress [7]; addresses of version 4 only. */
const alternativeName = (host: string): Buffer =>
  isIP(host) === 0 ? der(0x82, Buffer.from(host)) : der(0x87, Uint8Array.from(host.split(".").map(Number)));

const keyIdentifier = (key: KeyObject): Buffer =>
  createHash("sha1")
    .update(key.export({ format: "der", type: "spki" }))
    .digest();

/** The first bit clear, or it would be negative; the second set, so that no zero is in front. */
const serialNumber = (): Buffer => {
  const random = randomBytes(16);
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x40, 0);
  return random;
};
