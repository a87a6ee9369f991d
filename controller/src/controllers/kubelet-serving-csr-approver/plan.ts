import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from "../../api/certificate-signing-request.ts";
import { APPROVED } from "../../api/certificate-signing-request.ts";
import type { Node } from "../../api/node.ts";
import type { InstanceAnswer } from "../../provider/instance.ts";
import type { Claim } from "./plan/claim.ts";
import { machineObjection } from "./plan/machine.ts";
import { type MachineObjection, type Objection, objection, type RequestObjection } from "./plan/objection.ts";

/** What a decision about one request rests on. */
export interface Input {
  readonly csr: CertificateSigningRequest;
  readonly claim: Claim | Objection<RequestObjection>;
  /** The Node that the request is for. */
  readonly node: Node | undefined;
  /** What its cloud says. undefined: it was not asked, for there is no such Node, or the request is out of order anyway. */
  readonly answer: InstanceAnswer | undefined;
}

export type Plan =
  | {
      readonly kind: "approve";
      readonly csr: CertificateSigningRequest;
      readonly condition: CertificateSigningRequestCondition;
    }
  /** Never right: whoever else approves or denies may do so. */
  | {
      readonly kind: "reject";
      readonly csr: CertificateSigningRequest;
      readonly objection: Objection<RequestObjection>;
    }
  /** Not right now. */
  | {
      readonly kind: "wait";
      readonly csr: CertificateSigningRequest;
      readonly nodeName: string;
      readonly node: Node | undefined;
      readonly objection: Objection<MachineObjection>;
      readonly tell: boolean;
      readonly lookInMs: number;
    };

/** A kubelet waits 15 min, so a provider that is away for this long is not news yet. */
const SILENT_MS = 10_000;

/** Between two looks: a quarter of the request's age. */
const MIN_WAIT_MS = 2000;
const MAX_WAIT_MS = 60_000;

/** Whether the request is right as things stand. Nothing is ever denied. */
export function plan({ csr, claim, node, answer }: Input, nowMs: number): Plan {
  if (claim.kind === "objection") return { kind: "reject", csr, objection: claim };
  const { nodeName } = claim;
  const ageMs = Math.max(0, nowMs - csr.metadata.creationTimestampMs);
  const found =
    node === undefined || answer === undefined
      ? objection("nodeMissing", `there is no Node ${nodeName}`)
      : machineObjection(claim, answer);
  if (found === undefined && answer?.kind === "present") {
    return { kind: "approve", csr, condition: approval(claim, answer.instance.providerId) };
  }
  const why = found ?? objection("machineUnknown", "nothing is known of its machine");
  const leastMs = answer?.kind === "unknown" ? (answer.error.retryAfterMs ?? 0) : 0;
  const lookInMs = Math.max(leastMs, Math.min(Math.max(Math.round(ageMs / 4), MIN_WAIT_MS), MAX_WAIT_MS));
  const tell = why.reason !== "machineUnknown" || ageMs > SILENT_MS;
  return { kind: "wait", csr, nodeName, node, objection: why, tell, lookInMs };
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
