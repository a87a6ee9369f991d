import { createPrivateKey, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { selfSignedCertificate } from "./self-signed.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 500);
const DAY_MS = 86_400_000;

test("selfSignedCertificate() makes a certificate that is its own authority and names every host", () => {
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

test("selfSignedCertificate() gives each certificate a serial number of its own", () => {
  const make = () =>
    new X509Certificate(
      selfSignedCertificate({ commonName: "w", hosts: ["localhost"], nowMs: NOW_MS, validMs: DAY_MS }).certificate,
    ).serialNumber;
  const serials = Array.from({ length: 20 }, make);
  expect(new Set(serials).size).toBe(20);
  expect(serials.filter((serial) => !/^[4-7][0-9A-F]{31}$/.test(serial))).toEqual([]);
});
