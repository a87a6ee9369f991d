import type { CertificateSigningRequest } from "../../../api/certificate-signing-request.ts";
import type { NodeAddress } from "../../../api/node.ts";
import { addressText, parseAddress } from "../../../util/cidr.ts";
import { specialKind } from "../../../util/values/address-kind.ts";
import type { CertificateRequest, PublicKeyFacts, ReadRequest, SignatureCheck } from "../certificate-request.ts";

/** The node name, DNS names and IP addresses that a valid request claims, normalized. */
export interface Claim {
  readonly kind: "claim";
  readonly nodeName: string;
  /** In lower case. */
  readonly dnsNames: readonly string[];
  /** In one spelling. */
  readonly ipAddresses: readonly string[];
}

type Finding = Objection<RequestObjection>;

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const NODES_GROUP = "system:nodes";
const NODE_USER = "system:node:";

/** More than any instance has (the contract allows 64 addresses). */
const MAX_NAMES = 100;

/** `key encipherment` is for RSA keys only. pkg/apis/certificates/helpers.go, Kubernetes v1.36.3. */
const REQUIRED_USAGES = ["digital signature", "server auth"];
const ALLOWED_USAGES: ReadonlySet<string> = new Set([...REQUIRED_USAGES, "key encipherment"]);

const CURVES: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

/**
 * The claim of a request, or why it is invalid. Checks the rules of the signer
 * (kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests, "kubernetes.io/kubelet-serving"), and that the
 * requester is the node.
 */
export function claimOf({ spec }: CertificateSigningRequest, read: ReadRequest): Claim | Finding {
  if (read.kind === "unreadable") return objection("unreadable", `the request cannot be read: ${read.message}`);
  const { request } = read;
  const formal =
    keyObjection(request.publicKey) ?? signatureObjection(request.signature) ?? usagesObjection(spec.usages);
  if (formal !== undefined) return formal;
  const nodeUser = nodeUserOf(request.subject);
  if (nodeUser === undefined) return wrongSubject(request.subject);
  const material = requesterObjection(spec, nodeUser) ?? extensionsObjection(request) ?? namesObjection(request);
  if (material !== undefined) return material;
  return {
    kind: "claim",
    nodeName: nodeUser.slice(NODE_USER.length),
    dnsNames: request.dnsNames.map((name) => name.toLowerCase()),
    ipAddresses: request.ipAddresses.map((ip) => canonicalIp(ip) ?? ip),
  };
}

function keyObjection(key: PublicKeyFacts): Finding | undefined {
  switch (key.kind) {
    case "RSA":
      if (key.bits >= 2048 && key.bits <= 8192 && key.exponent >= 65_537n) return undefined;
      return weakKey(`RSA of ${key.bits} bits with exponent ${key.exponent}`);
    case "EC":
      return CURVES.has(key.curve) ? undefined : weakKey(`ECDSA on curve ${quoted(key.curve)}`);
    case "Ed25519":
    case "ML-DSA":
      return undefined;
    case "other":
      return weakKey(quoted(key.name));
  }
  return key satisfies never;
}

function weakKey(key: string): Finding {
  return objection(
    "weakKey",
    `its key is ${key}; it must be RSA of 2048 to 8192 bits, ECDSA on P-256, P-384 or P-521, Ed25519 or ML-DSA`,
  );
}

function signatureObjection(signature: SignatureCheck): Finding | undefined {
  switch (signature) {
    case "valid":
      return undefined;
    case "invalid":
      return objection("badSignature", "its signature does not match its key");
    case "unsupported":
      return objection("badSignature", "its signature algorithm does not match its key, or is not accepted");
  }
  return signature satisfies never;
}

function usagesObjection(usages: readonly string[]): Finding | undefined {
  const isRight =
    usages.every((usage) => ALLOWED_USAGES.has(usage)) && REQUIRED_USAGES.every((usage) => usages.includes(usage));
  if (isRight) return undefined;
  return objection(
    "wrongUsages",
    `its usages are ${listed(usages)}; "digital signature" and "server auth" are required, "key encipherment" is allowed`,
  );
}

/** The common name of a node's subject, which has exactly one common name and one organization. */
function nodeUserOf(subject: CertificateRequest["subject"]): string | undefined {
  const name = valueOf(subject, COMMON_NAME);
  const organization = valueOf(subject, ORGANIZATION);
  if (subject.length !== 2 || organization !== NODES_GROUP || name === undefined) return undefined;
  return name.startsWith(NODE_USER) && name !== NODE_USER ? name : undefined;
}

function wrongSubject(subject: CertificateRequest["subject"]): Finding {
  const found = subject.map(({ type, value }) => `${LABELS.get(type) ?? type}=${value}`);
  return objection(
    "wrongSubject",
    `its subject is ${listed(found)}; it must be O=${NODES_GROUP} and CN=${NODE_USER}<node>`,
  );
}

function valueOf(subject: CertificateRequest["subject"], wanted: string): string | undefined {
  return subject.find(({ type }) => type === wanted)?.value;
}

const LABELS: ReadonlyMap<string, string> = new Map([
  [COMMON_NAME, "CN"],
  [ORGANIZATION, "O"],
]);

function requesterObjection(
  { username, groups }: CertificateSigningRequest["spec"],
  commonName: string,
): Finding | undefined {
  if (username !== commonName) {
    return objection("requesterNotNode", `it is for ${quoted(commonName)}, but ${quoted(username)} created it`);
  }
  if (groups.includes(NODES_GROUP)) return undefined;
  return objection("requesterNotNode", `its creator ${quoted(username)} is not in group ${NODES_GROUP}`);
}

function extensionsObjection({ others }: CertificateRequest): Finding | undefined {
  if (others.length === 0) return undefined;
  return objection("unexpectedExtensions", `it requests more than alternative names: ${listed(others)}`);
}

function namesObjection({ dnsNames, ipAddresses, otherNames }: CertificateRequest): Finding | undefined {
  const count = dnsNames.length + ipAddresses.length + otherNames.length;
  if (count === 0) return objection("wrongNames", "it requests no name and no address");
  if (count > MAX_NAMES) return objection("wrongNames", `it requests ${count} names, more than ${MAX_NAMES}`);
  if (otherNames.length > 0) {
    return objection("wrongNames", `it requests names other than DNS names and IP addresses: ${listed(otherNames)}`);
  }
  const wrong = dnsNames.filter((name) => !isInstanceName(name.toLowerCase()));
  if (wrong.length > 0) return objection("wrongNames", `these are not valid instance names: ${listed(wrong)}`);
  // A DNS name can be an IP address too.
  const special = [...ipAddresses, ...dnsNames].filter((text) => isSpecial(text));
  if (special.length === 0) return undefined;
  return objection("wrongNames", `these are no addresses of one instance: ${listed(special)}`);
}

/** Loopback, link-local, unspecified, multicast or broadcast: no certificate proves who answers there. */
function isSpecial(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && specialKind(address) !== undefined;
}

/** DNS-1123 subdomain (apimachinery's validation v0.36): no wildcard, trailing dot or capitals. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Names of the cluster's own services in certificates of the same CA. */
const CLUSTER_NAME = /^localhost$|^kubernetes$|^kubernetes\.|(?:^|\.)svc(?:\.|$)/;

const NAME_TYPES: ReadonlySet<string> = new Set(["Hostname", "InternalDNS", "ExternalDNS"]);

export function isInstanceName(name: string): boolean {
  return DNS_NAME.test(name) && !CLUSTER_NAME.test(name);
}

/** Octets with leading zeros, which some programs read as octal: they prove no address. */
const AMBIGUOUS = /(?:^|[.:])0\d+\.|\.0\d+$/;

/** Normalized, so that equal addresses have equal texts. undefined: not an IP address. */
export function canonicalIp(address: string): string | undefined {
  if (AMBIGUOUS.test(address)) return undefined;
  const whole = parseAddress(address);
  return whole && addressText(whole);
}

export function namesAmong(addresses: readonly NodeAddress[]): ReadonlySet<string> {
  const names = addresses.filter(({ type }) => NAME_TYPES.has(type));
  return new Set(names.map(({ address }) => address.toLowerCase()));
}

/** The IP addresses, normalized. A Hostname can be one too. */
export function ipsAmong(addresses: readonly NodeAddress[]): ReadonlySet<string> {
  return new Set(addresses.map(({ address }) => canonicalIp(address)).filter((ip) => ip !== undefined));
}

/** Why a request is not approved: label of the metric. */
export type ObjectionReason = RequestObjection | InstanceObjection;

export type RequestObjection =
  | "unreadable"
  | "weakKey"
  | "badSignature"
  | "wrongUsages"
  | "wrongSubject"
  | "requesterNotNode"
  | "unexpectedExtensions"
  | "wrongNames";

/** May change. */
export type InstanceObjection =
  | "nodeNotFound"
  | "instanceUnknown"
  | "providerUntrusted"
  | "instanceNotOwned"
  | "instanceNotFound"
  | "instanceNotRunning"
  | "nodeNameUnconfirmed"
  | "addressReserved"
  | "clusterUnknown"
  | "addressUnknown"
  | "dnsNameUnknown";

export interface Objection<Reason extends ObjectionReason = ObjectionReason> {
  readonly kind: "objection";
  readonly reason: Reason;
  readonly message: string;
}

export function objection<Reason extends ObjectionReason>(reason: Reason, message: string): Objection<Reason> {
  return { kind: "objection", reason, message };
}

/** Text from an untrusted client. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

const MAX_QUOTED = 80;

export function listed(texts: readonly string[]): string {
  const first = texts.slice(0, MAX_LISTED).map(quoted).join(", ");
  if (texts.length === 0) return "none";
  return texts.length > MAX_LISTED ? `${first} and ${texts.length - MAX_LISTED} more` : first;
}

const MAX_LISTED = 5;
