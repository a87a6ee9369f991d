import type { KubeObject, ObjectReference } from "./meta.ts";

/** The signer of serving certificates that kube-apiserver honors when it calls a kubelet. */
export const KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving";

/** Condition types that complete a request. */
export const APPROVED = "Approved";
export const DENIED = "Denied";
export const FAILED = "Failed";

/** certificates.k8s.io/v1 CertificateSigningRequest, without the fields that an approver ignores (extra, expirationSeconds). */
export interface CertificateSigningRequest extends KubeObject {
  readonly spec: CertificateSigningRequestSpec;
  readonly status: CertificateSigningRequestStatus;
}

/** Immutable. `username` and `groups` are set by the API server from the authenticated user. */
export interface CertificateSigningRequestSpec {
  /** The PKCS#10 request: base64 of a PEM text. */
  readonly request: string;
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly username: string;
  readonly groups: readonly string[];
}

export interface CertificateSigningRequestStatus {
  readonly conditions: readonly CertificateSigningRequestCondition[];
  /** The certificate exists. It is not cached: those of a thousand nodes are megabytes. */
  readonly isIssued: boolean;
}

/** Unlike metav1.Condition: two times, kept as text because they are written back, and no observedGeneration. */
export interface CertificateSigningRequestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastUpdateTime: string | undefined;
  readonly lastTransitionTime: string | undefined;
}

export function csrReference({ metadata }: CertificateSigningRequest): ObjectReference {
  const { name, uid } = metadata;
  return { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", namespace: "", name, uid };
}
