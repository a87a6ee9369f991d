import {
  APPROVED,
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
} from "../../api/certificate-signing-request.ts";
import type { Node } from "../../api/node.ts";
import { type Claim, type InstanceObjection, type Objection, type RequestObjection, objection } from "./plan/claim.ts";
import { evaluateClaim, type InstanceEvidence } from "./plan/instance.ts";

/** What a decision about one request rests on. */
export interface Input {
  readonly csr: CertificateSigningRequest;
  readonly claim: Claim | Objection<RequestObjection>;
  /** The Node that the request is for. undefined: there is none, or the request is out of order anyway. */
  readonly target: Target | undefined;
}

/** A Node and what is known of its machine. */
export interface Target extends InstanceEvidence {
  readonly node: Node;
}

export type Plan = Approve | Leave | Wait;

export interface Approve {
  readonly kind: "approve";
  readonly csr: CertificateSigningRequest;
  readonly condition: CertificateSigningRequestCondition;
}

/** Not right, whatever becomes of the machine: others may approve or deny it. */
export interface Leave {
  readonly kind: "leave";
  readonly csr: CertificateSigningRequest;
  readonly objection: Objection<RequestObjection>;
}

/** Not right at present. */
export interface Wait {
  readonly kind: "wait";
  readonly csr: CertificateSigningRequest;
  readonly nodeName: string;
  readonly node: Node | undefined;
  readonly objection: Objection<InstanceObjection>;
  readonly tell: boolean;
  readonly lookInMs: number;
}

/** A kubelet waits 15 min, so a provider that is away for this long is not news yet. */
const SILENT_MS = 10_000;

/** Between two looks: a quarter of the request's age. */
const MIN_WAIT_MS = 2000;
const MAX_WAIT_MS = 60_000;

/** Whether the request is right as things stand. Nothing is ever denied. */
export function plan({ csr, claim, target }: Input, nowMs: number): Plan {
  if (claim.kind === "objection") return { kind: "leave", csr, objection: claim };
  const { nodeName } = claim;
  const finding =
    target === undefined ? objection("nodeNotFound", `there is no Node ${nodeName}`) : evaluateClaim(claim, target);
  if (finding.kind === "confirmation") return { kind: "approve", csr, condition: approval(claim, finding.providerId) };
  const ageMs = nowMs - csr.metadata.creationTimestampMs;
  return {
    kind: "wait",
    csr,
    nodeName,
    node: target?.node,
    objection: finding,
    tell: ageMs > SILENT_MS || !AWAY.has(finding.reason),
    lookInMs: Math.max(clamp(Math.round(ageMs / 4)), leastWaitMs(target)),
  };
}

/** Passes by itself, as a rule. */
const AWAY: ReadonlySet<InstanceObjection> = new Set(["instanceUnknown", "providerUntrusted"]);

function clamp(waitMs: number): number {
  return Math.min(Math.max(waitMs, MIN_WAIT_MS), MAX_WAIT_MS);
}

/** As long as the provider wishes. */
function leastWaitMs(target: Target | undefined): number {
  return target?.answer.kind === "unknown" ? (target.answer.error.retryAfterMs ?? 0) : 0;
}

/** The server adds the times. Reason as kube-controller-manager's approver of client certificates gives it. */
function approval(claim: Claim, providerId: string): CertificateSigningRequestCondition {
  const names = [...claim.dnsNames, ...claim.ipAddresses].join(", ");
  return {
    type: APPROVED,
    status: "True",
    reason: "AutoApproved",
    message: `The cloud says that ${providerId} is node ${claim.nodeName} and has: ${names}`,
    lastUpdateTime: undefined,
    lastTransitionTime: undefined,
  };
}
