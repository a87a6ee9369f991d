import { describe, expect, test } from "vitest";
import { parseBundle, trustFromConfigMap } from "./client-trust.ts";

describe("parseBundle()", () => {
  test.each([
    ["", "holds no certificate in PEM form"],
    ["not a certificate", "holds no certificate in PEM form"],
    ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "certificate 1 cannot be read"],
  ])("says what is wrong with %j", (pem, message) => {
    expect(() => parseBundle(pem)).toThrow(message);
  });
});

describe("trustFromConfigMap()", () => {
  test("trusts nobody when it is empty", () => {
    expect(trustFromConfigMap({})).toEqual({ clients: [], proxies: undefined });
  });
});
