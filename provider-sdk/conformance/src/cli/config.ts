import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { type Fixtures, type InstanceFixture, type LoadBalancerFixture, noFixtures } from "../check/fixtures.ts";
import { errorText } from "../check/error-text.ts";
import { UsageError } from "../check/usage-error.ts";

/** Reads what a vendor supplies. Throws a UsageError with everything that is wrong with the file. */
export const readConfig = async (path: string | undefined): Promise<Fixtures> => {
  if (path === undefined) return noFixtures;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError(`the configuration ${path} cannot be read: ${errorText(error)}`);
  });
  return parseConfig(text, path);
};

/** Reads the text of a configuration. */
export const parseConfig = (text: string, path: string): Fixtures => {
  const problems: string[] = [];
  const config = new Section(yamlOf(text, path), "", problems);
  const machine = instance(config.section("instance"));
  const fixtures: Fixtures = {
    ...(machine !== undefined && { instance: machine }),
    ...config.optional("absentProviderId"),
    malformedIds: config.texts("malformedIds"),
    ...config.optional("canarySecret"),
    ...loadBalancer(config.section("loadBalancer")),
    ...routeCidrs(config),
  };
  config.refuseOthers();
  if (problems.length > 0) throw new UsageError(`the configuration ${path} is wrong: ${problems.join("; ")}`);
  return fixtures;
};

const yamlOf = (text: string, path: string): unknown => {
  try {
    return parse(text) ?? {};
  } catch (error) {
    throw new UsageError(`the configuration ${path} is no YAML: ${errorText(error)}`);
  }
};

const instance = (section: Section | undefined): InstanceFixture | undefined => {
  if (section === undefined) return undefined;
  const addresses = section.texts("addresses");
  const fixture = {
    providerId: section.needed("providerId"),
    nodeName: section.needed("nodeName"),
    ...section.optional("type"),
    ...section.optional("zone"),
    ...section.optional("region"),
    ...(addresses.length > 0 && { addresses }),
  };
  section.refuseOthers();
  return fixture;
};

const loadBalancer = (section: Section | undefined): Pick<Fixtures, "loadBalancer"> => {
  if (section === undefined) return {};
  const timeoutSeconds = section.positive("timeoutSeconds");
  const fixture: LoadBalancerFixture = {
    ...section.optional("class"),
    ...section.textTable("annotations"),
    ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1_000 }),
  };
  section.refuseOthers();
  return { loadBalancer: fixture };
};

const routeCidrs = (config: Section): Pick<Fixtures, "routeCidrs"> => {
  const [first, second, ...others] = config.texts("routeCidrs");
  if (first === undefined) return {};
  if (second !== undefined && others.length === 0) return { routeCidrs: [first, second] };
  config.problem("routeCidrs has to be a list of two ranges");
  return {};
};

/** One mapping of the file, which remembers what was asked of it. */
class Section {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #path: string;
  readonly #problems: string[];
  readonly #known = new Set<string>();

  constructor(value: unknown, path: string, problems: string[]) {
    this.#path = path;
    this.#problems = problems;
    const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isMapping) problems.push(`${path || "the file"} has to be a mapping`);
    this.#values = new Map(isMapping ? Object.entries(value) : []);
  }

  section(key: string): Section | undefined {
    const value = this.#take(key);
    return value === undefined ? undefined : new Section(value, this.#at(key), this.#problems);
  }

  text(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === "string") return value;
    this.#problems.push(`${this.#at(key)} has to be a text`);
    return undefined;
  }

  optional<Key extends string>(key: Key): { readonly [Name in Key]?: string } {
    const value = this.text(key);
    // oxlint-disable-next-line typescript/consistent-type-assertions -- a computed key has type string for the compiler
    return (value === undefined ? {} : { [key]: value }) as { readonly [Name in Key]?: string };
  }

  needed(key: string): string {
    const value = this.text(key);
    if (value === undefined) this.#problems.push(`${this.#at(key)} is missing`);
    return value ?? "";
  }

  texts(key: string): readonly string[] {
    const value = this.#take(key) ?? [];
    const items: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    if (items.every((item) => typeof item === "string")) return items;
    this.#problems.push(`${this.#at(key)} has to be a list of texts`);
    return [];
  }

  positive(key: string): number | undefined {
    const value = this.#take(key);
    if (value === undefined || (typeof value === "number" && value > 0)) return value;
    this.problem(`${this.#at(key)} has to be a number above 0`);
    return undefined;
  }

  /** A mapping of texts under a key, with the key. */
  textTable<Key extends string>(key: Key): { readonly [Name in Key]?: Readonly<Record<string, string>> } {
    const section = this.section(key);
    if (section === undefined) return {};
    const table = Object.fromEntries([...section.#values.keys()].map((name) => [name, section.needed(name)]));
    // oxlint-disable-next-line typescript/consistent-type-assertions -- a computed key has type string for the compiler
    return { [key]: table } as { readonly [Name in Key]?: Readonly<Record<string, string>> };
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  refuseOthers(): void {
    for (const key of this.#values.keys())
      if (!this.#known.has(key)) this.#problems.push(`${this.#at(key)} is not known`);
  }

  #take(key: string): unknown {
    this.#known.add(key);
    return this.#values.get(key) ?? undefined;
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}
