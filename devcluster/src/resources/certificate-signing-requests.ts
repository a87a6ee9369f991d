import { sameJson } from "../json.ts";
import { type KubeObject, nameOf } from "../object.ts";
import { formatTime } from "../schema/time.ts";
import {
  type FieldError,
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../validation/field-error.ts";
import { dnsLabel, dnsSubdomain, type TextRule } from "../validation/names.ts";
import { age, ageColumn, humanDuration, nameColumn } from "./columns.ts";
import type { Cell, Resource, UserName } from "./resource.ts";

type Condition = Readonly<{
  type: string;
  status: string;
  reason?: string | undefined;
  message?: string | undefined;
  lastUpdateTime?: string | null | undefined;
  lastTransitionTime?: string | null | undefined;
}>;

type SigningRequest = KubeObject &
  Readonly<{
    spec: Readonly<{
      request: string | null;
      signerName: string;
      expirationSeconds?: number | undefined;
      usages?: readonly string[] | undefined;
      username?: string | undefined;
      uid?: string | undefined;
      groups?: readonly string[] | undefined;
      extra?: Readonly<Record<string, readonly string[]>> | undefined;
    }>;
    status: Readonly<{ conditions?: readonly Condition[] | undefined; certificate?: string | undefined }>;
  }>;

const decisions = ["Approved", "Denied"];
const trueOnly = ["Approved", "Denied", "Failed"];
const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const minExpirationSeconds = 600;

export function createSigningRequests(nowMs: () => number): Resource<SigningRequest> {
  const now = (): string => formatTime(nowMs());
  return {
    group: "certificates.k8s.io",
    version: "v1",
    name: "certificatesigningrequests",
    singular: "certificatesigningrequest",
    kind: "CertificateSigningRequest",
    type: "certificates.v1.CertificateSigningRequest",
    namespaced: false,
    shortNames: ["csr"],
    nameRule: () => [],
    strategy: {
      allowUnconditionalUpdate: true,
      prepareForCreate: signedBy,
      prepareForUpdate: (request, old) => ({ ...request, spec: old.spec, status: old.status }),
      validate,
      validateUpdate: (request, old) => validateUpdate(request, old, "metadata"),
    },
    subresources: [
      {
        name: "approval",
        verbs: ["get", "patch", "update"],
        prepareForUpdate: (request, old) => ({
          ...request,
          spec: old.spec,
          status: { ...old.status, conditions: withConditionTimes(request, old, now()) },
        }),
        validateUpdate: (request, old) => validateUpdate(request, old, "approval"),
      },
      {
        name: "status",
        verbs: ["get", "patch", "update"],
        prepareForUpdate: (request, old) => {
          const kept = { ...request, status: { ...request.status, conditions: keepDecisions(request, old) } };
          const conditions = withConditionTimes(kept, old, now());
          return { ...kept, spec: old.spec, status: { ...kept.status, conditions } };
        },
        validateUpdate: (request, old) => validateUpdate(request, old, "status"),
      },
    ],
    columns: [
      nameColumn,
      ageColumn,
      { name: "SignerName" },
      { name: "Requestor" },
      { name: "RequestedDuration" },
      { name: "Condition" },
    ],
    row,
    selectableFields: ["spec.signerName"],
    fieldsOf: ({ spec }) => ({ "spec.signerName": spec.signerName }),
  };
}

/** Who asks is what authentication says, never what the client writes. */
function signedBy(request: SigningRequest, user: UserName): SigningRequest {
  const { name, uid, groups, extra } = user;
  return { ...request, spec: { ...request.spec, username: name, uid, groups, extra }, status: {} };
}

function keepDecisions(request: SigningRequest, old: SigningRequest): readonly Condition[] | undefined {
  const before = old.status.conditions ?? [];
  return request.status.conditions?.map((condition) => {
    const stored = before.find(({ type }) => type === condition.type);
    return decisions.includes(condition.type) && stored !== undefined ? stored : condition;
  });
}

function withConditionTimes(
  request: SigningRequest,
  old: SigningRequest,
  now: string,
): readonly Condition[] | undefined {
  return request.status.conditions?.map((condition) => {
    const before = old.status.conditions?.find(
      ({ type, status }) => type === condition.type && status === condition.status,
    );
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? now,
    };
  });
}

function validate(request: SigningRequest): readonly FieldError[] {
  const { spec } = request;
  const wanted = spec.usages ?? [];
  const seconds = spec.expirationSeconds ?? minExpirationSeconds;
  return [
    ...validateRequest(spec.request),
    ...(wanted.length === 0 ? [required("spec.usages")] : []),
    ...wanted.flatMap((usage, index) =>
      usages.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, usages)],
    ),
    ...wanted.flatMap((usage, index) =>
      wanted.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : [],
    ),
    ...validateSignerName(spec.signerName),
    ...(seconds >= minExpirationSeconds
      ? []
      : [
          invalidValue(
            "spec.expirationSeconds",
            seconds,
            "may not specify a duration less than 600 seconds (10 minutes)",
          ),
        ]),
    ...validateConditions(request.status.conditions ?? []),
  ];
}

/** Only the PEM frame is looked at: devcluster has no ASN.1 reader, and none of its users sends a broken request inside a whole frame. */
function validateRequest(request: string | null): readonly FieldError[] {
  const pem = Buffer.from(request ?? "", "base64").toString("latin1");
  if (/-----BEGIN CERTIFICATE REQUEST-----[\s\S]+-----END CERTIFICATE REQUEST-----/.test(pem)) return [];
  return [invalidValue("spec.request", request, "PEM block type must be CERTIFICATE REQUEST")];
}

function validateSignerName(name: string): readonly FieldError[] {
  const field = "spec.signerName";
  if (name === "") return [required(field)];
  const [domain = "", path, ...rest] = name.split("/");
  if (path === undefined || rest.length > 0) {
    return [
      invalidValue(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  }
  return [
    ...validateParts(domain, dnsLabel),
    ...(domain.includes(".")
      ? []
      : [invalidValue(field, domain, "should be a domain with at least two segments separated by dots")]),
    ...validateParts(path, dnsSubdomain),
  ];
}

/** Errors of the first part between dots that has any. */
function validateParts(text: string, rule: TextRule): readonly FieldError[] {
  const part = text.split(".").find((candidate) => rule(candidate).length > 0);
  if (part === undefined) return [];
  return rule(part).map((complaint) =>
    invalidValue("spec.signerName", text, `validating label ${JSON.stringify(part)}: ${complaint}`),
  );
}

function validateConditions(conditions: readonly Condition[]): readonly FieldError[] {
  const field = "status.conditions";
  const errors = conditions.flatMap((condition, index) => {
    const allowed = trueOnly.includes(condition.type) ? ["True"] : ["False", "True", "Unknown"];
    const first = conditions.findIndex(({ type }) => type === condition.type);
    return [
      ...(condition.type === "" ? [required(`${field}[${index}].type`)] : []),
      ...validateStatus(`${field}[${index}].status`, condition.status, allowed),
      ...(first < index ? [duplicate(`${field}[${index}].type`, condition.type)] : []),
    ];
  });
  const isContradictory = decisions.every((decision) => conditions.some(({ type }) => type === decision));
  return isContradictory ? [...errors, tooManyDecisions(field)] : errors;
}

/** As the server writes a union with more than one member. */
function tooManyDecisions(field: string): FieldError {
  const members = decisions.map((type) => `conditions[{"type": "${type}"}]`);
  const list = members.map((member) => `\`${member}\``).join(", ");
  return invalidValue(field, `{${members.join(", ")}}`, `must specify at most one of: ${list}`);
}

function validateStatus(field: string, status: string, allowed: readonly string[]): readonly FieldError[] {
  if (status === "") return [required(field)];
  return allowed.includes(status) ? [] : [notSupported(field, status, allowed)];
}

function validateUpdate(
  request: SigningRequest,
  old: SigningRequest,
  what: "metadata" | "approval" | "status",
): readonly FieldError[] {
  return [
    ...validate(request),
    ...trueOnly.flatMap((type) => validateKept(request, old, type, what)),
    ...validateCertificate(request, old, what === "status"),
  ];
}

function validateKept(request: SigningRequest, old: SigningRequest, type: string, what: string): readonly FieldError[] {
  const field = "status.conditions";
  const after = (request.status.conditions ?? []).filter((condition) => condition.type === type);
  const before = (old.status.conditions ?? []).filter((condition) => condition.type === type);
  if (after.length < before.length)
    return [forbiddenField(field, `updates may not remove a condition of type "${type}"`)];
  if (what === "approval" || !decisions.includes(type)) return [];
  if (after.length > before.length) return [forbiddenField(field, `updates may not add a condition of type "${type}"`)];
  return sameJson(after, before) ? [] : [forbiddenField(field, `updates may not modify a condition of type "${type}"`)];
}

function validateCertificate(request: SigningRequest, old: SigningRequest, maySet: boolean): readonly FieldError[] {
  const field = "status.certificate";
  const before = old.status.certificate ?? "";
  if ((request.status.certificate ?? "") === before) return [];
  if (!maySet) return [forbiddenField(field, "updates may not set certificate content")];
  if (before === "") return [];
  return [forbiddenField(field, "updates may not modify existing certificate content")];
}

function row(request: SigningRequest, nowMs: number): readonly Cell[] {
  const { spec } = request;
  return [
    nameOf(request),
    age(request, nowMs),
    spec.signerName || "<none>",
    spec.username ?? "",
    spec.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds),
    conditionText(request),
  ];
}

function conditionText({ status }: SigningRequest): string {
  const has = (type: string): boolean => status.conditions?.some((condition) => condition.type === type) ?? false;
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${decision}${has("Failed") ? ",Failed" : ""}${(status.certificate ?? "") === "" ? "" : ",Issued"}`;
}
