import { Capabilities } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";

/**
 * Whether a capability is claimed, by its path in the specification's table: `instances.list`; of what has a list of kinds, by the kind:
 * `load_balancers.protocols.PROTOCOL_UDP`; "" is always.
 */
export const isClaimed = (capabilities: Capabilities | undefined, path: string): boolean => {
  if (path === "" || capabilities === undefined) return path === "";
  let value: unknown = Capabilities.toJSON(capabilities);
  for (const segment of path.split(".")) {
    if (Array.isArray(value)) return value.includes(segment);
    if (typeof value !== "object" || value === null) return false;
    value = Reflect.get(value, jsonName(segment));
  }
  // A message claims by its presence, a flag by being true.
  return value !== undefined && value !== false;
};

const jsonName = (segment: string): string =>
  segment.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** Every path of the method table that is claimed, in the table's order. */
export const claimedCapabilities = (capabilities: Capabilities | undefined): readonly string[] => [
  ...new Set(
    Object.values(methodRules)
      .map(({ capability }) => capability)
      .filter((path) => path !== "" && isClaimed(capabilities, path)),
  ),
];

/** Names of the methods whose capability is claimed, or is not. */
export const methodsWhere = (capabilities: Capabilities | undefined, claimed: boolean): readonly MethodName[] => {
  const names: MethodName[] = [];
  let name: MethodName;
  for (name in methodRules) if (isClaimed(capabilities, methodRules[name].capability) === claimed) names.push(name);
  return names;
};
