import { createPrivateKey } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selfSignedCertificate } from "../server/certificates/self-signed.ts";
import { isPair, readPemPair } from "./pem-pair.ts";

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
  ])("for %s", (_, texts, expected) => {
    expect(isPair(texts, Date.now())).toBe(expected);
  });

  test("rejects an expired certificate", () => {
    expect(isPair({ cert, key }, Date.now() + 2 * 3_600_000)).toBe(false);
  });
});

describe("readPemPair()", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "pem-pair-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test("refuses a pair that OpenSSL does not serve with, for its chain say", async () => {
    const [certFile, keyFile] = [join(directory, "tls.crt"), join(directory, "tls.key")];
    const { certificate, key } = make();
    await writeFile(certFile, `${certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
    await writeFile(keyFile, key);
    await expect(readPemPair(certFile, keyFile)).rejects.toMatchObject({
      code: "PEM_FILE",
      message: expect.stringContaining(`the certificate in ${certFile} cannot be used for TLS: `),
    });
  });
});
