import type { ProxyTrust } from "./client-trust.ts";
import type { User } from "./user.ts";

/** `headersDistinct` of a request: each value by itself, so that none can smuggle in a second one after a comma. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * The user a trusted proxy speaks for; undefined when it names none. As apiserver/pkg/authentication/request/headerrequest v0.36.3:
 * first header with a value for name and UID, all values for groups and extra attributes.
 */
export function userFromProxyHeaders(headers: DistinctHeaders, trust: ProxyTrust): User | undefined {
  const name = first(headers, trust.usernameHeaders);
  if (name === undefined) return undefined;
  return {
    name,
    uid: first(headers, trust.uidHeaders) ?? "",
    groups: trust.groupHeaders.flatMap((header) => all(headers, header)),
    extra: extraOf(headers, trust.extraPrefixes),
  };
}

function extraOf(headers: DistinctHeaders, prefixes: readonly string[]): User["extra"] {
  const extra: Record<string, readonly string[]> = {};
  for (const header of Object.keys(headers)) {
    const prefix = prefixes.find((candidate) => header.startsWith(candidate));
    if (prefix === undefined) continue;
    const key = decode(header.slice(prefix.length));
    extra[key] = [...(extra[key] ?? []), ...all(headers, header)];
  }
  return extra;
}

/** Keys are percent-encoded; one that is not is taken as it stands. */
function decode(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function first(headers: DistinctHeaders, names: readonly string[]): string | undefined {
  return names.flatMap((name) => all(headers, name)).find((value) => value !== "");
}

function all(headers: DistinctHeaders, name: string): readonly string[] {
  return headers[name] ?? [];
}
