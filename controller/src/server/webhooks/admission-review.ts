import type { AdmissionDecision, AdmissionRequest } from "../../api/admission.ts";
import { DecodeError, isRecord, type JsonRecord, recordField, stringField } from "../../util/json.ts";

const API_VERSION = "admission.k8s.io/v1";
const KIND = "AdmissionReview";

/** The request of a review. Throws DecodeError for whatever is not one. */
export function parseReview(body: unknown): AdmissionRequest {
  if (!isRecord(body)) throw new DecodeError(`want an ${KIND} as JSON`);
  const [apiVersion, kind] = [stringField(body, "apiVersion"), stringField(body, "kind")];
  if (apiVersion !== API_VERSION || kind !== KIND) {
    throw new DecodeError(`want ${API_VERSION} ${KIND}, got "${apiVersion}" "${kind}"`);
  }
  const request = body["request"];
  if (!isRecord(request)) throw new DecodeError("the review has no request");
  const uid = stringField(request, "uid");
  if (uid === "") throw new DecodeError("the request has no uid");
  const resource = recordField(request, "resource");
  const object = request["object"];
  return {
    uid,
    resource: {
      group: stringField(resource, "group"),
      version: stringField(resource, "version"),
      resource: stringField(resource, "resource"),
    },
    subResource: stringField(request, "subResource"),
    operation: stringField(request, "operation"),
    object: isRecord(object) ? object : undefined,
  };
}

/** The review with its answer, as the API server wants it back. */
export function formatReview(uid: string, decision: AdmissionDecision): JsonRecord {
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...responseOf(decision) } };
}

/** The API server passes warnings on up to 256 characters each, 4,096 together: apiserver/pkg/warning, endpoints/filters/warning.go v0.36.3. */
const MAX_WARNING = 256;

function responseOf(decision: AdmissionDecision): JsonRecord {
  switch (decision.kind) {
    case "allowed": {
      const { patch, warnings } = decision;
      return {
        allowed: true,
        ...(patch.length === 0
          ? {}
          : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
        ...(warnings.length === 0 ? {} : { warnings: warnings.map((text) => text.slice(0, MAX_WARNING)) }),
      };
    }
    case "denied":
      return { allowed: false, status: statusOf(decision) };
    default:
      return decision satisfies never;
  }
}

/** metav1.Status. A client sees Retry-After when `details` has it, and client-go then tries again by itself. */
function statusOf({ message, reason, retryAfterSeconds }: Extract<AdmissionDecision, { kind: "denied" }>): JsonRecord {
  const word =
    reason === "forbidden" ? { code: 403, reason: "Forbidden" } : { code: 503, reason: "ServiceUnavailable" };
  return { ...word, message, ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }) };
}
