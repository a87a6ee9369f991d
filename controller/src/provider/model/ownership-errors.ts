import type { ErrorReason } from "@cloudwire/proto/reasons";
import { contractError, ProviderError, type ProviderErrorCode } from "./errors.ts";

/** The domain of reasons of our own. */
const DOMAIN = "cloudwire.dev";

/** A reason of the contract: what it says of machines of one cloud is as true of machines of several. Told in events. */
const AMBIGUOUS_NAME: ErrorReason = "AMBIGUOUS_NAME";

/** Several providers could own the Node: nobody gets it until an operator has said which. */
export function contestedNodeError(nodeName: string, why: string, providers: readonly string[]): ProviderError {
  return contractError(AMBIGUOUS_NAME, `node ${nodeName} could be of ${listed(providers)}: ${why}`);
}

/** Several providers could own the load balancer: nobody gets it until an operator has said which. */
export function contestedServiceError(why: string, providers: readonly string[]): ProviderError {
  const message = `${why} (${listed(providers)}): none of them gets it until only one does`;
  // The code of things that belong to somebody else, class O.
  return ownError("ALREADY_EXISTS", "CLASS_CONTESTED", message);
}

/**
 * The machine may be in one more cloud that cannot tell now. A provider ID can never be taken back, so nobody gets the Node yet. Class
 * U: tried again after 1 s to 5 min, and as soon as a provider becomes usable.
 */
export function openClaimError(message: string, isNews: boolean): ProviderError {
  return ownError("UNKNOWN", isNews ? AMBIGUOUS_NAME : "CLAIM_OPEN", message);
}

/** `east and west`, `east, north and west`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

function ownError(code: ProviderErrorCode, reason: string, message: string): ProviderError {
  return new ProviderError({ code, reason, domain: DOMAIN, message });
}
