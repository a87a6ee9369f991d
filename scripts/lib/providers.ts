import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.ts";

/** What `provider.json` in a provider's directory says that scripts need; deploy reads its image. */
export interface ProviderManifest {
  readonly name: string;
  readonly language: string;
  /** Its program, below its directory. */
  readonly entry: string;
  /** Values of the chart that run it, as a path in the checkout. */
  readonly chartExample: string;
  readonly directory: string;
}

const PROVIDERS = "providers";

/** The manifests of all providers that this repository ships, by name. */
export function readProviders(): readonly ProviderManifest[] {
  return readdirSync(join(ROOT, PROVIDERS))
    .toSorted()
    .map((name) => `${PROVIDERS}/${name}`)
    .filter((directory) => existsSync(join(ROOT, directory, "provider.json")))
    .map((directory) => parseProvider(readFileSync(join(ROOT, directory, "provider.json"), "utf8"), directory));
}

export function parseProvider(text: string, directory: string): ProviderManifest {
  const manifest: unknown = JSON.parse(text);
  const string = (...keys: readonly string[]): string => {
    let value = manifest;
    for (const key of keys) value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    if (typeof value !== "string") throw new Error(`${directory}/provider.json: ${keys.join(".")} must be a text`);
    return value;
  };
  const name = string("name");
  if (directory !== `${PROVIDERS}/${name}`)
    throw new Error(`${directory}/provider.json: name must be that of its directory`);
  return {
    name,
    language: string("language"),
    entry: string("entry"),
    chartExample: string("chart", "example"),
    directory,
  };
}
