import type { KubeObject, ObjectReference } from "./meta.ts";

/** The signer of serving certificates that kube-apiserver honors when it calls a kubelet. */
export const KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving";

/** Condition types that decide about a request. */
export const APPROVED = "Approved";
export const DENIED = "Denied";
export const FAILED = "Failed";

/** certificates.k8s.io/v1 CertificateSigningRequest, without what no approver decides by (extra, expirationSeconds). */
export interface CertificateSigningRequest extends KubeObject {
  readonly spec: CertificateSigningRequestSpec;
  readonly status: CertificateSigningRequestStatus;
}

/** Set once by the requester, who cannot choose `username` and `groups`: the API server writes what it authenticated. */
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
  /** There is a certificate. Itself it is not kept: after a thousand nodes have joined these are megabytes. */
  readonly isIssued: boolean;
}

/** Unlike metav1.Condition it has no observedGeneration, and two times. Texts of times are kept: they are written back as they are. */
export interface CertificateSigningRequestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastUpdateTime: string | undefined;
  readonly lastTransitionTime: string | undefined;
}

/** Reference for Events about a request. */
export function csrReference({ metadata }: CertificateSigningRequest): ObjectReference {
  const { name, uid } = metadata;
  return { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", namespace: "", name, uid };
}
