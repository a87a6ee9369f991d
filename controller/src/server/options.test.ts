import { createSecureContext } from "node:tls";
import { describe, expect, test } from "vitest";
import { isCipherSuite, opensslCiphers, statusPageProblems } from "./options.ts";

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

describe("serving rules", () => {
  describe("statusPageProblems()", () => {
    test.each(["", "127.0.0.1:10269", "127.0.0.1:0", "127.9.9.9:1", "[::1]:10269"])(
      "takes %j",
      (statusPageBindAddress) => {
        expect(statusPageProblems({ statusPageBindAddress })).toEqual([]);
      },
    );

    const shape = "is not an IP address and a port; write it like 127.0.0.1:10269";
    const outside =
      "is not a loopback address, and there is no authentication; use 127.0.0.1 or [::1], or the page at --secure-port";

    test.each([
      ["10269", shape],
      ["127.0.0.1", shape],
      ["127.0.0.1:65536", shape],
      ["localhost:10269", shape],
      ["300.0.0.1:1", shape],
      ["http://127.0.0.1:1", shape],
      [":10269", outside],
      ["0.0.0.0:10269", outside],
      ["10.0.0.1:10269", outside],
      ["[::]:10269", outside],
      ["[fe80::1]:10269", outside],
    ])("refuses %j: it %s", (statusPageBindAddress, what) => {
      expect(statusPageProblems({ statusPageBindAddress })).toEqual([
        { where: "--status-page-bind-address", what: `"${statusPageBindAddress}" ${what}` },
      ]);
    });
  });
});
