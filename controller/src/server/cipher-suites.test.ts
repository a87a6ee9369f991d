import { createSecureContext } from "node:tls";
import { describe, expect, test } from "vitest";
import { isCipherSuite, opensslCiphers } from "./options.ts";

describe("opensslCiphers()", () => {
  test.each([
    ["leaves the choice to OpenSSL when none is named", [], undefined],
    [
      "keeps TLS 1.3 on beside suites of TLS 1.2",
      ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256",
    ],
    [
      "names each suite of TLS 1.3 once",
      ["TLS_AES_128_GCM_SHA256"],
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
    ],
  ])("%s", (_sentence, names, ciphers) => {
    expect(opensslCiphers(names)).toBe(ciphers);
  });

  test("gives names that OpenSSL knows", () => {
    expect(() => createSecureContext({ ciphers: opensslCiphers(["TLS_RSA_WITH_AES_256_CBC_SHA"]) })).not.toThrow();
  });
});

describe("isCipherSuite()", () => {
  test.each([
    ["TLS_AES_256_GCM_SHA384", true],
    ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", true],
    ["ECDHE-RSA-AES128-GCM-SHA256", false],
    ["TLS_RSA_WITH_RC4_128_SHA", false],
    ["", false],
  ])("%j: %s", (name, known) => {
    expect(isCipherSuite(name)).toBe(known);
  });
});
