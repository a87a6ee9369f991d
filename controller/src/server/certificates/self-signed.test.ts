import { X509Certificate, createPrivateKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as der from "./self-signed.ts";
import { selfSignedCertificate } from "./self-signed.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 500);
const DAY_MS = 86_400_000;

test("selfSignedCertificate() creates a CA certificate for all hosts", () => {
  const hosts = ["localhost", "webhook.kube-system.svc", "127.0.0.1", "::1", "fd00::a:1"];
  const { certificate, key } = selfSignedCertificate({ commonName: "webhook", hosts, nowMs: NOW_MS, validMs: DAY_MS });
  const read = new X509Certificate(certificate);
  expect({
    subject: read.subject,
    issuer: read.issuer,
    alternatives: read.subjectAltName,
    usage: read.keyUsage,
    ca: read.ca,
    from: read.validFromDate.toISOString(),
    to: read.validToDate.toISOString(),
    ownSignature: read.verify(read.publicKey),
    ownKey: read.checkPrivateKey(createPrivateKey(key)),
  }).toEqual({
    subject: "CN=webhook",
    issuer: "CN=webhook",
    alternatives:
      "DNS:localhost, DNS:webhook.kube-system.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:A:1",
    usage: ["1.3.6.1.5.5.7.3.1"],
    ca: true,
    from: "2026-11-21T11:00:00.000Z",
    to: "2026-11-22T12:00:00.000Z",
    ownSignature: true,
    ownKey: true,
  });
});

test("selfSignedCertificate() gives each certificate a unique serial number", () => {
  const make = () =>
    new X509Certificate(
      selfSignedCertificate({ commonName: "w", hosts: ["localhost"], nowMs: NOW_MS, validMs: DAY_MS }).certificate,
    ).serialNumber;
  const serials = Array.from({ length: 20 }, make);
  expect(new Set(serials).size).toBe(20);
  expect(serials.filter((serial) => !/^[4-7][0-9A-F]{31}$/.test(serial))).toEqual([]);
});

describe("der writer", () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

  test.each([
    { what: "an empty sequence", bytes: der.sequence(), wanted: "3000" },
    { what: "a sequence", bytes: der.sequence(der.TRUE, der.integer(Uint8Array.of(2))), wanted: "30060101ff020102" },
    { what: "a set", bytes: der.set(der.utf8String("ü")), wanted: "31040c02c3bc" },
    { what: "a bit string", bytes: der.bitString(Uint8Array.of(0x84), 2), wanted: "03020284" },
    { what: "an explicit tag", bytes: der.explicit(3, der.TRUE), wanted: "a3030101ff" },
    { what: "an implicit tag", bytes: der.implicit(7, Uint8Array.of(127, 0, 0, 1)), wanted: "87047f000001" },
    {
      what: "a time",
      bytes: der.utcTime(Date.UTC(2026, 0, 2, 3, 4, 5, 999)),
      wanted: `170d${hex(Buffer.from("260102030405Z"))}`,
    },
    // X.690 8.19.5 and RFC 5758.
    { what: "an identifier", bytes: der.objectIdentifier("2.5.29.17"), wanted: "0603551d11" },
    { what: "a longer one", bytes: der.objectIdentifier("1.2.840.10045.4.3.2"), wanted: "06082a8648ce3d040302" },
  ])("writes $what", ({ bytes, wanted }) => {
    expect(hex(bytes)).toBe(wanted);
  });

  describe("element()", () => {
    test.each([
      { length: 127, head: "047f" },
      { length: 128, head: "048180" },
      { length: 255, head: "0481ff" },
      { length: 256, head: "04820100" },
      { length: 65_536, head: "0483010000" },
    ])("gives $length bytes the head $head", ({ length, head }) => {
      const bytes = der.octetString(new Uint8Array(length));
      expect([hex(bytes).slice(0, head.length), bytes.length]).toEqual([head, length + head.length / 2]);
    });
  });
});
