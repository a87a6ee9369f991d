import { describe, expect, test } from "vitest";
import { type CsrParts, csr } from "../../../../test/support/node/builders-csr.ts";
import type { CertificateRequest, ReadRequest } from "../certificate-request.ts";
import { canonicalIp, claimOf, ipsAmong, isInstanceName, listed, quoted } from "./claim.ts";

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

describe("claimOf() takes", () => {
  test("a request as a kubelet makes it", () => {
    expect(claimOf(csr(), read())).toEqual({
      kind: "claim",
      nodeName: "node-a",
      dnsNames: ["node-a"],
      ipAddresses: ["10.0.0.1"],
    });
  });

  test.each([
    { it: "of an RSA key, with its usage", usages: ["server auth", "key encipherment", "digital signature"] },
    { it: "whose usages are said twice", usages: ["digital signature", "server auth", "server auth"] },
  ])("one $it", ({ usages }) => {
    expect(claimOf(csr({ spec: { usages } }), read()).kind).toBe("claim");
  });

  test.each<Partial<CertificateRequest>>([
    { publicKey: { kind: "RSA", bits: 2048, exponent: 65_537n } },
    { publicKey: { kind: "RSA", bits: 8192, exponent: 65_537n } },
    { publicKey: { kind: "EC", curve: "secp384r1" } },
    { publicKey: { kind: "EC", curve: "secp521r1" } },
    { publicKey: { kind: "Ed25519" } },
    { publicKey: { kind: "ML-DSA" } },
    { subject: [CN, O] },
    { dnsNames: [] },
    { ipAddresses: [] },
    { ipAddresses: Array.from({ length: 99 }, (_, index) => `10.0.0.${index}`) },
  ])("one with %o", (parts) => {
    expect(claimOf(csr(), read(parts)).kind).toBe("claim");
  });

  test("names in lower case", () => {
    expect(claimOf(csr(), read({ dnsNames: ["Node-A.Example"] }))).toMatchObject({ dnsNames: ["node-a.example"] });
  });
});

interface Row {
  readonly it: string;
  readonly reason: string;
  readonly message: RegExp;
  readonly read?: ReadRequest;
  readonly spec?: NonNullable<CsrParts["spec"]>;
}

const rows: readonly Row[] = [
  {
    it: "cannot be read",
    reason: "unreadable",
    message: /cannot be read: why$/,
    read: { kind: "unreadable", message: "why" },
  },
  {
    it: "has an RSA key of 2047 bits",
    reason: "weakKey",
    message: /RSA of 2047 bits with exponent 65537;/,
    read: read({ publicKey: { kind: "RSA", bits: 2047, exponent: 65_537n } }),
  },
  {
    it: "has an RSA key of 8193 bits",
    reason: "weakKey",
    message: /RSA of 8193 bits/,
    read: read({ publicKey: { kind: "RSA", bits: 8193, exponent: 65_537n } }),
  },
  {
    it: "has an RSA key with exponent 3",
    reason: "weakKey",
    message: /with exponent 3;/,
    read: read({ publicKey: { kind: "RSA", bits: 4096, exponent: 3n } }),
  },
  {
    it: "has a key on another curve",
    reason: "weakKey",
    message: /ECDSA on curve "secp256k1"/,
    read: read({ publicKey: { kind: "EC", curve: "secp256k1" } }),
  },
  {
    it: "has a key of another kind",
    reason: "weakKey",
    message: /its key is "dsa"/,
    read: read({ publicKey: { kind: "other", name: "dsa" } }),
  },
  {
    it: "is not signed by its key",
    reason: "badSignature",
    message: /does not match its key/,
    read: read({ signature: "invalid" }),
  },
  {
    it: "is signed with another algorithm",
    reason: "badSignature",
    message: /not accepted/,
    read: read({ signature: "unsupported" }),
  },
  { it: "has no usages", reason: "wrongUsages", message: /^its usages are none;/, spec: { usages: [] } },
  {
    it: "lacks server auth",
    reason: "wrongUsages",
    message: /^its usages are "digital signature";/,
    spec: { usages: ["digital signature"] },
  },
  {
    it: "lacks digital signature",
    reason: "wrongUsages",
    message: /server auth/,
    spec: { usages: ["server auth", "key encipherment"] },
  },
  {
    it: "is for clients too",
    reason: "wrongUsages",
    message: /"client auth"/,
    spec: { usages: ["digital signature", "server auth", "client auth"] },
  },
  {
    it: "has no organization",
    reason: "wrongSubject",
    message: /its subject is "CN=system:node:node-a";/,
    read: read({ subject: [CN] }),
  },
  {
    it: "has no common name",
    reason: "wrongSubject",
    message: /its subject is "O=system:nodes";/,
    read: read({ subject: [O] }),
  },
  {
    it: "has another organization",
    reason: "wrongSubject",
    message: /"O=system:masters"/,
    read: read({ subject: [{ ...O, value: "system:masters" }, CN] }),
  },
  {
    it: "has a further organization",
    reason: "wrongSubject",
    message: /"O=system:masters"/,
    read: read({ subject: [O, CN, { ...O, value: "system:masters" }] }),
  },
  {
    it: "has two common names",
    reason: "wrongSubject",
    message: /node-b/,
    read: read({ subject: [O, CN, { ...CN, value: "system:node:node-b" }] }),
  },
  {
    it: "has common names for organization",
    reason: "wrongSubject",
    message: /it must be/,
    read: read({ subject: [CN, CN] }),
  },
  {
    it: "names its node in another attribute",
    reason: "wrongSubject",
    message: /"2.5.4.11=system:node:node-a"/,
    read: read({ subject: [O, { ...CN, type: "2.5.4.11" }] }),
  },
  {
    it: "has an organization of the name of a node",
    reason: "wrongSubject",
    message: /it must be/,
    read: read({ subject: [O, { ...O, value: CN.value }] }),
  },
  {
    it: "has a further attribute",
    reason: "wrongSubject",
    message: /"2.5.4.11=x"/,
    read: read({ subject: [O, CN, { type: "2.5.4.11", value: "x" }] }),
  },
  {
    it: "is for no node",
    reason: "wrongSubject",
    message: /"CN=admin"/,
    read: read({ subject: [O, { ...CN, value: "admin" }] }),
  },
  {
    it: "is for a node without name",
    reason: "wrongSubject",
    message: /"CN=system:node:"/,
    read: read({ subject: [O, { ...CN, value: "system:node:" }] }),
  },
  {
    it: "is for another node than its maker",
    reason: "requesterNotNode",
    message: /^it is for "system:node:node-a", but "system:node:node-b" created it$/,
    spec: { username: "system:node:node-b" },
  },
  {
    it: "is created by a client outside of the nodes' group",
    reason: "requesterNotNode",
    message: /not in group system:nodes/,
    spec: { groups: ["system:authenticated"] },
  },
  {
    it: "requests more than names",
    reason: "unexpectedExtensions",
    message: /more than alternative names: "2.5.29.19"$/,
    read: read({ others: ["2.5.29.19"] }),
  },
  {
    it: "requests nothing",
    reason: "wrongNames",
    message: /no name and no address/,
    read: read({ dnsNames: [], ipAddresses: [] }),
  },
  {
    it: "requests 101 names",
    reason: "wrongNames",
    message: /101 names, more than 100/,
    read: read({ dnsNames: Array.from({ length: 100 }, (_, index) => `n${index}`) }),
  },
  {
    it: "requests 101 names of all kinds",
    reason: "wrongNames",
    message: /101 names, more than 100/,
    read: read({ dnsNames: Array.from({ length: 50 }, (_, index) => `n${index}`), otherNames: Array(50).fill("URI") }),
  },
  {
    it: "requests a name of another kind",
    reason: "wrongNames",
    message: /"URI"/,
    read: read({ otherNames: ["URI"] }),
  },
  {
    it: "requests another kind of name beside one DNS name",
    reason: "wrongNames",
    message: /"URI"/,
    read: read({ dnsNames: ["node-a"], ipAddresses: [], otherNames: ["URI"] }),
  },
  {
    it: "requests a wildcard",
    reason: "wrongNames",
    message: /"\*\.example"/,
    read: read({ dnsNames: ["node-a", "*.example"] }),
  },
  {
    it: "requests the API server's name",
    reason: "wrongNames",
    message: /"Kubernetes.default"/,
    read: read({ dnsNames: ["Kubernetes.default"] }),
  },
];

test("claimOf() spells addresses as everybody else here", () => {
  const ipAddresses = ["fd00:0000:0000:0000:0000:0000:0000:0001", "10.0.0.1"];
  expect(claimOf(csr(), read({ ipAddresses }))).toMatchObject({ ipAddresses: ["fd00::1", "10.0.0.1"] });
});

describe("claimOf() objects to a request that", () => {
  test.each(rows)("$it", ({ reason, message, read: given = read(), spec = {} }) => {
    expect(claimOf(csr({ spec }), given)).toEqual({
      kind: "objection",
      reason,
      message: expect.stringMatching(message),
    });
  });

  test("quotes at length, keeping its own sentence short", () => {
    const subject = [{ ...O, value: "x".repeat(5000) }, CN];
    const { message } = { message: "", ...claimOf(csr(), read({ subject })) };
    expect(message.length).toBeLessThan(300);
  });
});

describe("names", () => {
  describe("isInstanceName()", () => {
    test.each([
      "node-a",
      "a",
      "10-0-0-1.eu.compute.internal",
      "kubernetes-node-1",
      "svc-1.example",
      "localhost.example",
      "my-localhost",
      "my-kubernetes",
      "my-kubernetes.example",
      "my-localhost",
      "my-kubernetes",
      "my-kubernetes.example",
      "10.0.0.1",
      "a".repeat(63),
    ])("takes %s", (name) => {
      expect(isInstanceName(name)).toBe(true);
    });

    test.each([
      "",
      "Node-a",
      "-a",
      "a-",
      "a..b",
      "a.",
      ".a",
      "*",
      "*.example",
      "a_b",
      "a b",
      "a\0b",
      "ä",
      "a:1",
      "a".repeat(254),
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
      "web.shop.svc",
      "web.shop.svc.cluster.local",
      "svc",
    ])("refuses %j", (name) => {
      expect(isInstanceName(name)).toBe(false);
    });
  });

  describe("canonicalIp()", () => {
    test("gives equal addresses equal texts", () => {
      const spellings = ["fd00::1", "FD00:0:0::1", "fd00:0000:0000:0000:0000:0000:0000:0001"];
      expect(new Set(spellings.map(canonicalIp)).size).toBe(1);
      expect(canonicalIp("10.0.0.1")).not.toBe(canonicalIp("10.0.0.2"));
    });

    test.each(["", "node-a", "10.0.0", "10.0.0.1/32", "010.0.0.1", "fd00::1%eth0", "fd00:::1"])(
      "refuses %j",
      (text) => {
        expect(canonicalIp(text)).toBeUndefined();
      },
    );
  });

  test("ipsAmong() finds addresses of any type, in one spelling, and no names", () => {
    const addresses = [
      { type: "Hostname", address: "node-a" },
      { type: "InternalIP", address: "FD00:0::1" },
      { type: "Hostname", address: "10.0.0.1" },
    ];
    expect(ipsAmong(addresses)).toEqual(new Set(["fd00::1", "10.0.0.1"]));
  });
});

describe("objection", () => {
  describe("quoted()", () => {
    test.each([
      { text: "node-a", said: `"node-a"` },
      { text: `"\n`, said: String.raw`"\"\n"` },
      { text: "x".repeat(80), said: `"${"x".repeat(80)}"` },
      { text: "x".repeat(81), said: `"${"x".repeat(80)}…"` },
    ])("says $said", ({ text, said }) => {
      expect(quoted(text)).toBe(said);
    });
  });

  describe("listed()", () => {
    test.each([
      { texts: [], said: "none" },
      { texts: ["a"], said: `"a"` },
      { texts: ["a", "b", "c", "d", "e"], said: `"a", "b", "c", "d", "e"` },
      { texts: ["a", "b", "c", "d", "e", "f", "g"], said: `"a", "b", "c", "d", "e" and 2 more` },
    ])("says $said", ({ texts, said }) => {
      expect(listed(texts)).toBe(said);
    });
  });
});
