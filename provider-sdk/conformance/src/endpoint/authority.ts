import { type KeyObject, X509Certificate, createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

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

/** One element of DER (ITU-T X.690): its tag, its length, what is in it. */
const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const inside = Buffer.concat(content);
  return Buffer.concat([Uint8Array.of(tag), lengthOf(inside.length), inside]);
};

/** Below 128 one byte; else how many bytes follow, and those. */
const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Uint8Array.of(0x80 + digits.length), digits]);
};

/** OCTET STRING. */
const bytes = (value: Uint8Array): Buffer => der(0x04, value);
/** UTF8String. */
const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
/** INTEGER that is not negative: first bit clear, no zero in front. */
const number = (value: Uint8Array): Buffer => der(0x02, value);
/** BIT STRING whose last byte has bits that count for nothing. */
const bits = (value: Uint8Array, unused: number): Buffer => der(0x03, Uint8Array.of(unused), value);
/** UTCTime: years 1950 to 2049. */
const time = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));

/** Bits of keyUsage: digitalSignature; keyCertSign. */
const mayProve = bits(Uint8Array.of(0b1000_0000), 7);
const maySign = bits(Uint8Array.of(0b0000_0100), 2);

/** OBJECT IDENTIFIER: the first two arcs in one byte, the others in groups of seven bits. */
const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return der(0x06, Uint8Array.from([first * 40 + second, ...others.flatMap(sevenBits)]));
};

const sevenBits = (arc: number): readonly number[] =>
  arc < 0x80 ? [arc] : [...sevenBits(arc >> 7).map((byte) => byte | 0x80), arc & 0x7f];

/** The elements that stand one after the other in a piece of DER. */
const elements = (
  input: Uint8Array,
): readonly { readonly tag: number; readonly content: Buffer; readonly whole: Buffer }[] => {
  const found = [];
  const buffer = Buffer.from(input);
  for (let at = 0; at < buffer.length; ) {
    const short = buffer.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short - 0x80;
    const start = at + 2 + lengthBytes;
    const end = start + (lengthBytes === 0 ? short : buffer.readUIntBE(at + 2, lengthBytes));
    found.push({ tag: buffer.readUInt8(at), content: buffer.subarray(start, end), whole: buffer.subarray(at, end) });
    at = end;
  }
  return found;
};

/** The name of the authority that signed a certificate, as DER: the second SEQUENCE of what is signed, after that of the algorithm (RFC 5280, 4.1). */
export const issuerName = (cert: string | Buffer): Buffer => {
  const [certificate] = elements(new X509Certificate(cert).raw);
  const [toBeSigned] = elements(certificate?.content ?? Buffer.alloc(0));
  const sequences = elements(toBeSigned?.content ?? Buffer.alloc(0)).filter(({ tag }) => tag === 0x30);
  return sequences[1]?.whole ?? Buffer.alloc(0);
};
