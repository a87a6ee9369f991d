import {
  APPROVED,
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
} from "../../api/certificate-signing-request.ts";
import type { Node } from "../../api/node.ts";
import { type Claim, type InstanceObjection, type Objection, type RequestObjection, objection } from "./plan/claim.ts";
import { evaluateClaim, type InstanceEvidence } from "./plan/instance.ts";
import { type ClusterAddresses, reservedObjection } from "./plan/reserved.ts";

export interface Input {
  readonly csr: CertificateSigningRequest;
  readonly claim: Claim | Objection<RequestObjection>;
  /** undefined: the Node does not exist, or the request is invalid anyway. */
  readonly target: Target | undefined;
}

export interface Target extends InstanceEvidence {
  readonly node: Node;
  readonly cluster: ClusterAddresses;
  /** Host name or IP address at which this program calls the API server. */
  readonly apiServerHost: string;
}

export type Plan = Approve | Leave | Wait;

export interface Approve {
  readonly kind: "approve";
  readonly csr: CertificateSigningRequest;
  readonly condition: CertificateSigningRequestCondition;
}

/** Invalid regardless of the instance. Other approvers may approve or deny it. */
export interface Leave {
  readonly kind: "leave";
  readonly csr: CertificateSigningRequest;
  readonly objection: Objection<RequestObjection>;
}

export interface Wait {
  readonly kind: "wait";
  readonly csr: CertificateSigningRequest;
  readonly nodeName: string;
  readonly node: Node | undefined;
  readonly objection: Objection<InstanceObjection>;
  readonly report: boolean;
  readonly retryInMs: number;
}

/** A kubelet waits 15 min, so that a short provider outage is not reported. */
const REPORT_AFTER_MS = 10_000;

/** Between two evaluations: a quarter of the age of the request. */
const MIN_WAIT_MS = 2000;
const MAX_WAIT_MS = 60_000;

/** Never denies a request. */
export function plan({ csr, claim, target }: Input, nowMs: number): Plan {
  if (claim.kind === "objection") return { kind: "leave", csr, objection: claim };
  const { nodeName } = claim;
  const finding =
    target === undefined
      ? objection("nodeNotFound", `Node ${nodeName} does not exist`)
      : (reservedObjection(claim, target.node, target) ?? evaluateClaim(claim, target));
  if (finding.kind === "confirmation") return { kind: "approve", csr, condition: approval(claim, finding.providerId) };
  const ageMs = nowMs - csr.metadata.creationTimestampMs;
  return {
    kind: "wait",
    csr,
    nodeName,
    node: target?.node,
    objection: finding,
    report: ageMs > REPORT_AFTER_MS || !TEMPORARY.has(finding.reason),
    retryInMs: Math.max(clamp(Math.round(ageMs / 4)), providerWaitMs(target)),
  };
}

/** Usually temporary. */
const TEMPORARY: ReadonlySet<InstanceObjection> = new Set(["instanceUnknown", "providerUntrusted", "clusterUnknown"]);

function clamp(waitMs: number): number {
  return Math.min(Math.max(waitMs, MIN_WAIT_MS), MAX_WAIT_MS);
}

/** The wait that the provider asked for. */
function providerWaitMs(target: Target | undefined): number {
  return target?.answer.kind === "unknown" ? (target.answer.error.retryAfterMs ?? 0) : 0;
}

/** The API server adds the times. kube-controller-manager's approver of client certificates has the same reason. */
function approval(claim: Claim, providerId: string): CertificateSigningRequestCondition {
  const names = [...claim.dnsNames, ...claim.ipAddresses].join(", ");
  return {
    type: APPROVED,
    status: "True",
    reason: "AutoApproved",
    message: `According to the cloud, ${providerId} is node ${claim.nodeName} and has: ${names}`,
    lastUpdateTime: undefined,
    lastTransitionTime: undefined,
  };
}
