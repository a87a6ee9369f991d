/** Which Nodes have which provider ID: two with the same are a mistake that no cloud can see. */
export class ProviderIds {
  readonly #idOf = new Map<string, string>();
  /** A set only where there are several: thousands of sets of one would be megabytes. */
  readonly #namesOf = new Map<string, string | Set<string>>();

  note(name: string, providerID: string): void {
    if (this.#idOf.get(name) === providerID) return;
    this.forget(name);
    if (providerID === "") return;
    this.#idOf.set(name, providerID);
    const others = this.#namesOf.get(providerID);
    if (others === undefined) this.#namesOf.set(providerID, name);
    else if (typeof others === "string") this.#namesOf.set(providerID, new Set([others, name]));
    else others.add(name);
  }

  /** Names of other Nodes with the same ID, sorted. */
  rivals(name: string): readonly string[] {
    const providerID = this.#idOf.get(name);
    const names = providerID === undefined ? undefined : this.#namesOf.get(providerID);
    if (names === undefined || typeof names === "string") return [];
    return [...names].filter((other) => other !== name).toSorted();
  }

  /** The Node is gone. */
  forget(name: string): void {
    const providerID = this.#idOf.get(name);
    if (providerID === undefined) return;
    this.#idOf.delete(name);
    const names = this.#namesOf.get(providerID);
    if (names instanceof Set) names.delete(name);
    if (names === name || (names instanceof Set && names.size === 0)) this.#namesOf.delete(providerID);
  }
}
