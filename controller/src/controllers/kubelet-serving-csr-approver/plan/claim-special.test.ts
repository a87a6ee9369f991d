import { describe, expect, test } from "vitest";
import { csr } from "../../../../test/support/node/builders-csr.ts";
import type { CertificateRequest, ReadRequest } from "../certificate-request.ts";
import { claimOf } from "./claim.ts";

const CN = { type: "2.5.4.3", value: "system:node:node-a" };
const O = { type: "2.5.4.10", value: "system:nodes" };

function read(parts: Partial<CertificateRequest> = {}): ReadRequest {
  const request: CertificateRequest = {
    subject: [O, CN],
    dnsNames: ["node-a"],
    ipAddresses: ["10.0.0.1"],
    otherNames: [],
    others: [],
    publicKey: { kind: "EC", curve: "prime256v1" },
    signature: "valid",
    ...parts,
  };
  return { kind: "read", request };
}

const SPECIAL = [
  "127.0.0.1",
  "127.9.9.9",
  "::1",
  "0.0.0.0",
  "::",
  "169.254.169.254",
  "fe80::1",
  "224.0.0.1",
  "ff02::1",
  "255.255.255.255",
  "::ffff:127.0.0.1",
  "::ffff:169.254.169.254",
];

describe("claimOf() objects to the special address", () => {
  test.each(SPECIAL)("%s (case N-6)", (address) => {
    expect(claimOf(csr(), read({ ipAddresses: ["10.0.0.1", address] }))).toMatchObject({ reason: "wrongNames" });
  });

  test.each(["127.0.0.1", "169.254.169.254"])("%s as a DNS name (case N-6)", (name) => {
    expect(claimOf(csr(), read({ dnsNames: ["node-a", name] }))).toMatchObject({ reason: "wrongNames" });
  });
});
