import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from "../../api/certificate-signing-request.ts";
import {
  type JsonRecord,
  optionalString,
  recordField,
  recordsField,
  stringField,
  stringsField,
} from "../../util/json.ts";
import type { JsonObject } from "../client.ts";
import { type Resource, metaFromJson } from "./codec.ts";

/** JSON only: there are few, and they live for an hour or a day. */
export const CERTIFICATE_SIGNING_REQUESTS: Resource<CertificateSigningRequest> = {
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
  fromJson,
};

function fromJson(object: JsonRecord): CertificateSigningRequest {
  const spec = recordField(object, "spec");
  const status = recordField(object, "status");
  return {
    metadata: metaFromJson(object),
    spec: {
      request: stringField(spec, "request"),
      signerName: stringField(spec, "signerName"),
      usages: stringsField(spec, "usages"),
      username: stringField(spec, "username"),
      groups: stringsField(spec, "groups"),
    },
    status: {
      conditions: recordsField(status, "conditions", conditionFromJson),
      isIssued: stringField(status, "certificate") !== "",
    },
  };
}

function conditionFromJson(condition: JsonRecord): CertificateSigningRequestCondition {
  return {
    type: stringField(condition, "type"),
    status: stringField(condition, "status"),
    reason: stringField(condition, "reason"),
    message: stringField(condition, "message"),
    lastUpdateTime: optionalString(condition, "lastUpdateTime"),
    lastTransitionTime: optionalString(condition, "lastTransitionTime"),
  };
}

/** Merge patch for certificatesigningrequests/approval. The server rejects it (conflict) when the request has changed since it was read. */
export function conditionPatch(csr: CertificateSigningRequest, added: CertificateSigningRequestCondition): JsonObject {
  const { uid, resourceVersion } = csr.metadata;
  const conditions = [...csr.status.conditions, added].map((condition) => ({ ...condition }));
  return { metadata: { uid, resourceVersion }, status: { conditions } };
}
