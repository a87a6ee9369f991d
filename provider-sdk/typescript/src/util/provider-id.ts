import { isSameInstance as isSame } from "@cloudwire/proto/provider-ids";

/**
 * Whether two provider IDs of one provider name one instance: the contract's rule BAT-6. The scheme and the letter case do not count, and an ID may lack the
 * location with which the other one begins: `aws:///zone/i-1` and `aws:///i-1`.
 */
export function isSameInstance(one: string, other: string): boolean {
  return isSame(one, other);
}
