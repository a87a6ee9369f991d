import type { Instance, InstanceResult, InstanceState } from "../../../provider/model/instance.ts";
import {
  type Claim,
  type InstanceObjection,
  type Objection,
  ipsAmong,
  listed,
  namesAmong,
  objection,
  quoted,
} from "./claim.ts";

type Finding = Objection<InstanceObjection>;

/** A machine in one of these has no kubelet that starts. */
const NOT_RUNNING: ReadonlySet<InstanceState> = new Set(["stopping", "stopped", "terminating"]);

/** The claim is true: the cloud says so of this machine. */
export interface Confirmation {
  readonly kind: "confirmation";
  readonly providerId: string;
}

/** What is known of the node's machine. */
export interface InstanceEvidence {
  readonly answer: InstanceResult;
  /** Why the provider that answered is not to be believed now. */
  readonly untrustedReason: string | undefined;
}

/** Whether what the cloud says of the node's machine bears the claim out. */
export function evaluateClaim(claim: Claim, { answer, untrustedReason }: InstanceEvidence): Confirmation | Finding {
  switch (answer.kind) {
    case "unknown":
      return objection("instanceUnknown", `nothing is known of its machine: ${answer.error.message}`);
    case "notOwned":
      return objection("instanceNotOwned", `no provider owns its machine: ${answer.message}`);
    case "absent":
      return objection("instanceNotFound", "its machine does not exist");
    case "present":
      if (untrustedReason !== undefined)
        return objection("providerUntrusted", `its provider is not to be believed now: ${untrustedReason}`);
      return instanceObjection(claim, answer.instance) ?? confirmation(answer.instance);
    default:
      return answer satisfies never;
  }
}

function confirmation({ providerId }: Instance): Confirmation {
  return { kind: "confirmation", providerId };
}

function instanceObjection(claim: Claim, instance: Instance): Finding | undefined {
  const { providerId, state, addresses } = instance;
  if (NOT_RUNNING.has(state)) {
    return objection("instanceNotRunning", `its machine ${quoted(providerId)} is ${state}`);
  }
  const names = namesAmong(addresses);
  // A kubelet chooses its Node's providerID when it registers: only the cloud's own name for the machine ties the two.
  if (instance.name.toLowerCase() !== claim.nodeName && !names.has(claim.nodeName)) {
    const known = listed([...new Set([instance.name, ...names])]);
    return objection(
      "nodeNameUnconfirmed",
      `machine ${quoted(providerId)} is not called ${quoted(claim.nodeName)}, but ${known}`,
    );
  }
  const ips = ipsAmong(addresses);
  const strangeIps = claim.ipAddresses.filter((ip) => !ips.has(ip));
  if (strangeIps.length > 0) {
    return objection(
      "addressUnknown",
      `machine ${quoted(providerId)} does not have ${listed(strangeIps)}, but ${listed([...ips])}`,
    );
  }
  const strangeNames = claim.dnsNames.filter((name) => name !== claim.nodeName && !names.has(name));
  if (strangeNames.length === 0) return undefined;
  return objection(
    "dnsNameUnknown",
    `machine ${quoted(providerId)} is not called ${listed(strangeNames)}, but ${listed([claim.nodeName, ...names])}`,
  );
}
