/**
 * Whether two provider IDs name one instance: the only such rule, see [BAT-6] in the specification. Both must be IDs of one provider. The
 * scheme and the letter case do not count, and an ID may lack the location that the other begins with: `aws:///zone/i-1` and `aws:///i-1`.
 */
export function isSameInstance(one: string, other: string): boolean {
  if (one === other) return one !== "";
  const [left, right] = [segmentsOf(one), segmentsOf(other)];
  const common = Math.min(left.length, right.length);
  if (common === 0) return false;
  return left.slice(-common).join("/") === right.slice(-common).join("/");
}

/** Whether two IDs may be of one provider: the schemes are equal, or the provider has declared a prefix of each. */
export function isOneProvider(one: string, other: string, prefixes: readonly string[] = []): boolean {
  if (schemeOf(one) === schemeOf(other)) return true;
  const declared = new Set(prefixes.map(schemeOf));
  return [one, other].every((id) => declared.has(schemeOf(id)));
}

/** The last segment, which all IDs of one instance share, and those of other instances may. undefined: the ID names no instance. */
export function instanceKey(providerId: string): string | undefined {
  return segmentsOf(providerId).at(-1);
}

/** Whether the ID begins with the prefix; the letter case does not count. */
export function hasPrefix(providerId: string, prefix: string): boolean {
  if (providerId.startsWith(prefix)) return true;
  return providerId.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
}

/** Values by instance, whatever form of the provider ID a caller has. IDs of several providers do not mix. */
export class InstanceMap<V> {
  /** By {@link instanceKey}. */
  readonly #entries = new Map<string, { readonly id: string; readonly value: V }[]>();

  /** Adds a value; an instance may have several. */
  add(providerId: string, value: V): void {
    const key = instanceKey(providerId);
    if (key === undefined) return;
    const entries = this.#entries.get(key);
    if (entries === undefined) this.#entries.set(key, [{ id: providerId, value }]);
    else entries.push({ id: providerId, value });
  }

  delete(providerId: string, value: V): void {
    const key = instanceKey(providerId);
    const left = (key === undefined ? [] : (this.#entries.get(key) ?? [])).filter((entry) => entry.value !== value);
    if (key === undefined) return;
    if (left.length === 0) this.#entries.delete(key);
    else this.#entries.set(key, left);
  }

  /** The values of the instance, in the order in which they were added. @param prefixes of the provider that `providerId` is from */
  get(providerId: string, prefixes: readonly string[] = []): readonly V[] {
    const key = instanceKey(providerId);
    const entries = key === undefined ? undefined : this.#entries.get(key);
    if (entries === undefined) return [];
    const same = entries.filter(({ id }) => isOneProvider(id, providerId, prefixes) && isSameInstance(id, providerId));
    return same.map(({ value }) => value);
  }

  has(providerId: string, prefixes: readonly string[] = []): boolean {
    return this.get(providerId, prefixes).length > 0;
  }
}

function segmentsOf(providerId: string): readonly string[] {
  const end = providerId.indexOf("://");
  const path = end < 0 ? providerId : providerId.slice(end + 3);
  return path
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "");
}

function schemeOf(providerId: string): string {
  return providerId.slice(0, Math.max(0, providerId.indexOf("://"))).toLowerCase();
}
