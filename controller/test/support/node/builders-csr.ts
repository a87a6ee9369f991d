import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from "../../../src/api/certificate-signing-request.ts";
import type { ObjectMeta } from "../../../src/api/meta.ts";
import { objectMeta } from "../builders.ts";

/** The parts of a request a test cares about; all else is as the kubelet of node-a asks. */
export interface CsrParts {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<CertificateSigningRequestSpec>;
  readonly status?: Partial<CertificateSigningRequestStatus>;
}

export function csr({ metadata, spec, status }: CsrParts = {}): CertificateSigningRequest {
  return {
    metadata: objectMeta({ name: "csr-1", ...metadata }),
    spec: {
      request: "",
      signerName: "kubernetes.io/kubelet-serving",
      usages: ["digital signature", "server auth"],
      username: "system:node:node-a",
      groups: ["system:nodes", "system:authenticated"],
      ...spec,
    },
    status: { conditions: [], isIssued: false, ...status },
  };
}

export function csrCondition(type: string, status = "True"): CertificateSigningRequestStatus["conditions"][number] {
  return { type, status, reason: "Because", message: "", lastUpdateTime: undefined, lastTransitionTime: undefined };
}
