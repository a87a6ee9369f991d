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

/** In these states no kubelet starts. */
const NOT_RUNNING: ReadonlySet<InstanceState> = new Set(["stopping", "stopped", "terminating"]);

export interface Confirmation {
  readonly kind: "confirmation";
  readonly providerId: string;
}

export interface InstanceEvidence {
  readonly answer: InstanceResult;
  readonly untrustedReason: string | undefined;
}

/** Checks the claim against the instance data. */
export function evaluateClaim(claim: Claim, { answer, untrustedReason }: InstanceEvidence): Confirmation | Finding {
  switch (answer.kind) {
    case "unknown":
      return objection("instanceUnknown", `could not look up its instance: ${answer.error.message}`);
    case "notOwned":
      return objection("instanceNotOwned", `no provider owns its instance: ${answer.message}`);
    case "absent":
    case "noMatch":
      return objection("instanceNotFound", "its instance does not exist");
    case "present":
      if (untrustedReason !== undefined)
        return objection("providerUntrusted", `its provider is not trusted: ${untrustedReason}`);
      return instanceObjection(claim, answer.instance) ?? confirmation(answer.instance);
  }
  return answer satisfies never;
}

function confirmation({ providerId }: Instance): Confirmation {
  return { kind: "confirmation", providerId };
}

function instanceObjection(claim: Claim, instance: Instance): Finding | undefined {
  const { providerId, state, addresses } = instance;
  if (NOT_RUNNING.has(state)) {
    return objection("instanceNotRunning", `its instance ${quoted(providerId)} is ${state}`);
  }
  const names = namesAmong(addresses);
  // A kubelet chooses its own providerID when it registers, so that only the instance name in the cloud proves the identity.
  if (instance.name.toLowerCase() !== claim.nodeName && !names.has(claim.nodeName)) {
    const known = listed([...new Set([instance.name, ...names])]);
    return objection(
      "nodeNameUnconfirmed",
      `the name of instance ${quoted(providerId)} is not ${quoted(claim.nodeName)}, but ${known}`,
    );
  }
  const ips = ipsAmong(addresses);
  const unknownIps = claim.ipAddresses.filter((ip) => !ips.has(ip));
  if (unknownIps.length > 0) {
    return objection(
      "addressUnknown",
      `instance ${quoted(providerId)} does not have ${listed(unknownIps)}, but ${listed([...ips])}`,
    );
  }
  const unknownNames = claim.dnsNames.filter((name) => name !== claim.nodeName && !names.has(name));
  if (unknownNames.length === 0) return undefined;
  return objection(
    "dnsNameUnknown",
    `the name of instance ${quoted(providerId)} is not ${listed(unknownNames)}, but ${listed([claim.nodeName, ...names])}`,
  );
}
