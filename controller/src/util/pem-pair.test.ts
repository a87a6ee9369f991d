import { createPrivateKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { selfSignedCertificate } from "../server/self-signed.ts";
import { isPair } from "./pem-pair.ts";

const make = () => selfSignedCertificate({ commonName: "a", hosts: [], nowMs: Date.now(), validMs: 3_600_000 });

describe("isPair()", () => {
  const { certificate: cert, key } = make();
  const { key: foreign } = make();
  const passphrase = "open sesame";
  const locked = createPrivateKey(key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase });

  test.each([
    ["a certificate and its key", { cert, key }, true],
    ["bytes", { cert: Buffer.from(cert), key: Buffer.from(key) }, true],
    ["a key that is opened by its passphrase", { cert, key: locked, passphrase }, true],
    ["no certificate", { key }, true],
    ["no key", { cert }, true],
    ["the key of another certificate", { cert, key: foreign }, false],
    ["a key whose passphrase is another", { cert, key: locked, passphrase: "sesame" }, false],
    ["half a file", { cert: cert.slice(0, 100), key }, false],
  ])("judges %s", (_, texts, expected) => {
    expect(isPair(texts)).toBe(expected);
  });
});
