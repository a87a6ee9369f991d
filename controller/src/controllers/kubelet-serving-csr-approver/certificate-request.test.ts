import { createPublicKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  attribute,
  der as element,
  dns,
  ecKey,
  ed25519Key,
  email,
  encodeRequest,
  extension,
  extensionRequest,
  ip,
  mlDsa44Key,
  mlDsa65Key,
  mlDsa87Key,
  nodeSubject,
  oid,
  OIDS,
  request,
  requestDer,
  rsaKey,
  sequence,
  subjectAltName,
  uri,
  utf8,
} from "../../../test/support/node/certificate-requests.ts";
import { type CertificateRequest, readCertificateRequest } from "./certificate-request.ts";

const KEY = ecKey();
const RSA = rsaKey(2048);

/** What was read; a request that cannot be read fails the test. */
function read(base64: string): CertificateRequest {
  const result = readCertificateRequest(base64);
  if (result.kind === "unreadable") throw new Error(result.message);
  return result.request;
}

/** Why it cannot be read; "" when it can. */
function problem(base64: string): string {
  const result = readCertificateRequest(base64);
  return result.kind === "unreadable" ? result.message : "";
}

const pem = (text: string): string => Buffer.from(text).toString("base64");
const pemOf = (der: Uint8Array): string => Buffer.from(encodeRequest(der), "base64").toString();

describe("readCertificateRequest() reads", () => {
  test("all that a kubelet asks for", () => {
    expect(read(request({ key: KEY }))).toEqual({
      subject: [
        { type: OIDS.organization, value: "system:nodes" },
        { type: OIDS.commonName, value: "system:node:node-a" },
      ],
      dnsNames: ["node-a"],
      ipAddresses: ["10.0.0.1"],
      otherNames: [],
      others: [],
      publicKey: { kind: "EC", curve: "prime256v1" },
      signature: "valid",
    });
  });

  // Made by openssl 3.0.19: openssl req -new -newkey ed25519 -nodes -subj /O=system:nodes/CN=system:node:node-a -addext subjectAltName=DNS:node-a,IP:10.0.0.1,IP:fd00::1
  test("one that another program has made", () => {
    expect(read(pem(OPENSSL))).toEqual({
      subject: [
        { type: OIDS.organization, value: "system:nodes" },
        { type: OIDS.commonName, value: "system:node:node-a" },
      ],
      dnsNames: ["node-a"],
      ipAddresses: ["10.0.0.1", "fd00:0000:0000:0000:0000:0000:0000:0001"],
      otherNames: [],
      others: [],
      publicKey: { kind: "Ed25519" },
      signature: "valid",
    });
  });

  test.each([
    { key: RSA, facts: { kind: "RSA", bits: 2048, exponent: 65_537n } },
    { key: rsaKey(1024, 3), facts: { kind: "RSA", bits: 1024, exponent: 3n } },
    { key: ecKey("P-384"), facts: { kind: "EC", curve: "secp384r1" } },
    { key: ecKey("secp256k1"), facts: { kind: "EC", curve: "secp256k1" } },
    { key: ed25519Key(), facts: { kind: "Ed25519" } },
    { key: mlDsa44Key(), facts: { kind: "ML-DSA" } },
    { key: mlDsa65Key(), facts: { kind: "ML-DSA" } },
    { key: mlDsa87Key(), facts: { kind: "ML-DSA" } },
  ])("its key: $facts", ({ key, facts }) => {
    expect(read(request({ key }))).toMatchObject({ publicKey: facts, signature: "valid" });
  });

  test("the largest request: 100 names and a key of ML-DSA-87 (case V-6)", () => {
    const names = Array.from({ length: 100 }, (_, index) => dns(`node-${index}.a-zone.region.example.com`));
    expect(read(request({ key: mlDsa87Key(), names }))).toMatchObject({
      publicKey: { kind: "ML-DSA" },
      signature: "valid",
    });
  });

  test("an IPv4 address that is written as IPv6 as the IPv4 address that it is", () => {
    const names = [ip("0:0:0:0:0:ffff:a00:1"), ip("fd00:0:0:0:0:0:0:1")];
    expect(read(request({ names })).ipAddresses).toEqual(["10.0.0.1", "fd00:0000:0000:0000:0000:0000:0000:0001"]);
  });

  test("every character of a subject", () => {
    const [name] = read(request({ subjectText: utf8("\uFEFFnöde") })).subject;
    expect(name?.value).toBe("\uFEFFnöde");
  });

  test("every kind of name that it does not know as other", () => {
    const names = [email("a@b"), uri("https://c"), element(0x88, Buffer.of(42))];
    expect(read(request({ names })).otherNames).toEqual(["email", "URI", "other"]);
  });

  test("what is asked for besides names", () => {
    const constraints = extension(OIDS.basicConstraints, sequence(), true);
    const password = attribute(OIDS.challengePassword, utf8("secret"));
    const attributes = [password, extensionRequest(constraints, subjectAltName(dns("node-a")))];
    expect(read(request({ attributes }))).toMatchObject({
      dnsNames: ["node-a"],
      others: [OIDS.challengePassword, OIDS.basicConstraints],
    });
  });

  test("no names where none are asked for", () => {
    expect(read(request({ attributes: [] }))).toMatchObject({ dnsNames: [], ipAddresses: [], others: [] });
    expect(read(request({ names: [] }))).toMatchObject({ dnsNames: [], ipAddresses: [], others: [] });
  });

  test.each([
    { it: "changed", parts: { tamper: flipLast }, signature: "invalid" },
    { it: "of another key's algorithm", parts: { algorithm: OIDS.sha256WithRsa }, signature: "unsupported" },
    { it: "of ML-DSA, and changed", parts: { key: mlDsa65Key(), tamper: flipLast }, signature: "invalid" },
    {
      it: "of ML-DSA, and of another size",
      parts: { key: mlDsa65Key(), algorithm: OIDS.mlDsa44 },
      signature: "unsupported",
    },
    { it: "over SHA-1", parts: { key: RSA, algorithm: OIDS.sha1WithRsa }, signature: "unsupported" },
  ])("that a signature is $it", ({ parts, signature }) => {
    expect(read(request({ key: KEY, ...parts })).signature).toBe(signature);
  });
});

describe("readCertificateRequest() checks a signature", () => {
  test.each([
    { it: "of RSA over SHA-384", key: RSA, algorithm: OIDS.sha384WithRsa, digest: "sha384" },
    { it: "of RSA over SHA-512", key: RSA, algorithm: OIDS.sha512WithRsa, digest: "sha512" },
    { it: "of ECDSA over SHA-384", key: KEY, algorithm: OIDS.ecdsaWithSha384, digest: "sha384" },
    { it: "of ECDSA over SHA-512", key: KEY, algorithm: OIDS.ecdsaWithSha512, digest: "sha512" },
  ])("$it", ({ key, algorithm, digest }) => {
    expect(read(request({ key, algorithm, digest })).signature).toBe("valid");
    expect(read(request({ key, algorithm, digest: "sha256" })).signature).toBe("invalid");
  });

  test("of no key that is too large to be worth it", () => {
    const n = Buffer.alloc(1025, 0xff).toString("base64url");
    const publicKey = createPublicKey({ format: "jwk", key: { kty: "RSA", n, e: "AQAB" } });
    const { signature, publicKey: facts } = read(request({ key: { ...RSA, publicKey } }));
    expect([signature, facts]).toEqual(["unsupported", { kind: "RSA", bits: 8200, exponent: 65_537n }]);
  });
});

describe("readCertificateRequest() refuses", () => {
  const der = requestDer({ key: KEY });
  const names = subjectAltName(dns("node-a"));
  const values = [dns("kubernetes.default.svc"), dns("node-a")].map((name) => element(0x04, sequence(name)));
  const twoValues = sequence(oid(OIDS.subjectAltName), ...values);
  test.each([
    { it: "nothing", base64: "", why: /one PEM block/ },
    { it: "bytes without PEM", base64: Buffer.from(der).toString("base64"), why: /one PEM block/ },
    {
      it: "a block of another type",
      base64: pem(pemOf(der).replaceAll("CERTIFICATE REQUEST", "CERTIFICATE")),
      why: /one PEM block/,
    },
    { it: "text before the block", base64: pem(`x\n${pemOf(der)}`), why: /one PEM block/ },
    { it: "two blocks", base64: pem(pemOf(der) + pemOf(der)), why: /one PEM block/ },
    { it: "headers in the block", base64: pem(pemOf(der).replace("\n", "\nA: b\n\n")), why: /one PEM block/ },
    { it: "padding in the middle", base64: pem(pemOf(der).replace("MI", "MI==")), why: /not base64/ },
    {
      it: "16 KiB of names",
      base64: request({ names: Array.from({ length: 900 }, () => dns("n".repeat(60))) }),
      why: /larger than/,
    },
    {
      it: "bytes after the request",
      base64: encodeRequest(Buffer.concat([der, Buffer.of(0)])),
      why: /middle of an element/,
    },
    { it: "a request cut short", base64: encodeRequest(der.subarray(0, -1)), why: /longer than what holds it/ },
    {
      it: "a list that is no request",
      base64: encodeRequest(Buffer.from("3000", "hex")),
      why: /its request part does not/,
    },
    { it: "lengths in BER", base64: encodeRequest(withLongLength(der)), why: /length that is not in DER/ },
    {
      it: "two lists of extensions",
      base64: request({ attributes: [extensionRequest(names), extensionRequest()] }),
      why: /two lists of extensions/,
    },
    {
      it: "two lists of names",
      base64: request({ attributes: [extensionRequest(names, names)] }),
      why: /two lists of alternative names/,
    },
    {
      it: "two values of one attribute",
      base64: request({
        attributes: [attribute(OIDS.extensionRequest, sequence(names), sequence())],
      }),
      why: /extensions part does not/,
    },
    {
      it: "a subject that is no UTF-8",
      base64: request({ subjectText: element(0x0c, Buffer.of(0xff)) }),
      why: /not valid/,
    },
    {
      it: "a subject of another type of text",
      base64: request({ subjectText: element(0x16, Buffer.from("a")) }),
      why: /neither UTF8String nor PrintableString/,
    },
    {
      it: "a key that is none",
      base64: request({ spki: sequence(sequence(oid("1.2.3")), element(0x03, Buffer.of(0))) }),
      why: /its public key cannot be read/,
    },
    {
      it: "two values of one extension, of which other readers take the first",
      base64: request({ attributes: [extensionRequest(twoValues)] }),
      why: /extension part does not/,
    },
    {
      it: "an address of five bytes",
      base64: request({ names: [element(0x87, Buffer.from("0a00000101", "hex"))] }),
      why: /IP address of 5 bytes/,
    },
    {
      it: "names that are no list",
      base64: request({
        attributes: [extensionRequest(extension(OIDS.subjectAltName, utf8("node-a")))],
      }),
      why: /alternative names part does not/,
    },
  ])("$it", ({ base64, why }) => {
    expect(problem(base64)).toMatch(why);
  });

  test("nesting without end, at once", () => {
    let nested = Buffer.of(0x30, 0);
    while (nested.length < 4000)
      nested = Buffer.concat([Buffer.of(0x30, 0x82, nested.length >> 8, nested.length & 255), nested]);
    expect(problem(encodeRequest(nested))).not.toBe("");
  });
});

describe("readCertificateRequest() never throws", () => {
  test("whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, inPem) => {
        const base64 = inPem ? encodeRequest(bytes) : Buffer.from(bytes).toString("base64");
        expect(readCertificateRequest(base64).kind).toBe("unreadable");
      }),
      { numRuns: 300 },
    );
  });

  test("and never takes a request with one changed byte for signed", () => {
    const keys = [KEY, RSA, ed25519Key()];
    const requests = keys.map((key) =>
      requestDer({ key, subject: nodeSubject("node-a"), names: [dns("a"), ip("10.0.0.1")] }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...requests), fc.nat(), fc.integer({ min: 1, max: 255 }), (der, at, by) => {
        const changed = Uint8Array.from(der);
        const index = at % changed.length;
        changed[index] = (changed[index] ?? 0) ^ by;
        const result = readCertificateRequest(encodeRequest(changed));
        expect(result.kind === "read" && result.request.signature === "valid").toBe(false);
      }),
      { numRuns: 400 },
    );
  });
});

function flipLast(signature: Uint8Array): Uint8Array {
  return Uint8Array.from(signature, (byte, index) => (index === signature.length - 1 ? byte ^ 1 : byte));
}

/** The outermost length with a leading zero byte, as BER allows and DER does not. */
function withLongLength(der: Uint8Array): Uint8Array {
  const [, , high = 0, low = 0] = der;
  return Buffer.concat([Buffer.of(0x30, 0x83, 0, high, low), der.subarray(4)]);
}

const OPENSSL = `-----BEGIN CERTIFICATE REQUEST-----
MIHwMIGjAgEAMDQxFTATBgNVBAoMDHN5c3RlbTpub2RlczEbMBkGA1UEAwwSc3lz
dGVtOm5vZGU6bm9kZS1hMCowBQYDK2VwAyEA69BmC79FVBXBtlddQ9HgIUXPNxcP
7hZgQkpwt8M0mb2gPDA6BgkqhkiG9w0BCQ4xLTArMCkGA1UdEQQiMCCCBm5vZGUt
YYcECgAAAYcQ/QAAAAAAAAAAAAAAAAAAATAFBgMrZXADQQCcC54TyC8xCl4q/HaI
codHeuZsMX45oxPsPlzuYjjujtCzAjv18i2RqHIGxvrasU1RCjC42iKn3AMroy6q
hqsL
-----END CERTIFICATE REQUEST-----
`;
