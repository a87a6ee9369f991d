import { hasPrefix } from "@cloudwire/proto/provider-ids";

/** A provider ID taken apart. */
export interface ProviderIdParts {
  /** The declared prefix it begins with. */
  readonly prefix: string;
  /** What follows. */
  readonly id: string;
}

/** How the provider's ids and Kubernetes' provider IDs belong together. */
export interface ProviderIds {
  /** The declared prefixes; the first is the one written. */
  readonly prefixes: readonly string[];
  /** Takes a provider ID apart; undefined if it is another provider's. */
  readonly parse: (providerId: string) => ProviderIdParts | undefined;
  /** Completes the cloud's id; one that has a declared prefix already stays as it is. */
  readonly complete: (id: string, prefix?: string) => string;
}

/** Makes the rules for a provider's declared prefixes. */
export const createProviderIds = (prefixes: readonly string[]): ProviderIds => {
  // `acme://eu/` must win over `acme://`.
  const longestFirst = prefixes.toSorted((left, right) => right.length - left.length);
  const own = prefixes.join(", ");
  const prefixOf = (id: string) => longestFirst.find((prefix) => hasPrefix(id, prefix));
  return {
    prefixes,
    parse: (providerId) => {
      const prefix = prefixOf(providerId);
      return prefix === undefined ? undefined : { prefix, id: providerId.slice(prefix.length) };
    },
    complete: (id, prefix) => {
      requireId(id);
      const known = prefixOf(id);
      if (/^[^:/\s]+:\/\//.test(id.slice(known?.length ?? 0)))
        throw new TypeError(`id ${id} has a prefix that is not of this provider (${own}); answer the cloud's own id`);
      return known === undefined ? `${prefix ?? prefixes[0] ?? ""}${id}` : id;
    },
  };
};

/** What comes from a cloud's JSON may lack what its type says. */
const requireId = (id: unknown): void => {
  if (typeof id !== "string" || id === "")
    throw new TypeError(`id is ${JSON.stringify(id) ?? "missing"}; answer the cloud's id of the machine, a text`);
};
