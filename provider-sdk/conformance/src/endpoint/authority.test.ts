import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Authority, issuerName } from "./authority.ts";

describe("Authority.issue()", () => {
  const authority = new Authority("test authority");
  const root = new X509Certificate(authority.cert);

  test("signs what OpenSSL takes for a certificate of the authority", () => {
    const { cert, key } = authority.issue({ commonName: "x", use: "server", hosts: ["a.example.com", "127.0.0.1"] });
    const leaf = new X509Certificate(cert);
    expect(key).toContain("-----BEGIN PRIVATE KEY-----");
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf).toMatchObject({
      ca: false,
      subject: "CN=x",
      issuer: "CN=test authority",
      subjectAltName: "DNS:a.example.com, IP Address:127.0.0.1",
      keyUsage: ["1.3.6.1.5.5.7.3.1"],
    });
    expect(root).toMatchObject({ ca: true, subject: "CN=test authority" });
    expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now());
    expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now());
  });

  test("signs for another authority's name, which is not signed by it", () => {
    const real = authority.issue({ commonName: "x", use: "client" });
    const pretender = new Authority(issuerName(real.cert));
    const forged = new X509Certificate(pretender.issue({ commonName: "x", use: "client" }).cert);
    expect(forged.issuer).toBe("CN=test authority");
    expect(forged.verify(root.publicKey)).toBe(false);
  });

  test("gives each certificate a number of its own", () => {
    const numbers = Array.from({ length: 20 }, () => authority.issue({ commonName: "x", use: "client" }).cert);
    expect(new Set(numbers.map((cert) => new X509Certificate(cert).serialNumber)).size).toBe(20);
  });
});
