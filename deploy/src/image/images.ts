import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GROUPS, type GroupName } from "./groups.ts";
import { ROOT } from "./tools.ts";

export interface ImageSource {
  /** Of the image, of its program, and of the directory that `npm run build` makes for it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Of the user and the group that the program runs as. */
  readonly userId: number;
  /** What its program runs beside itself. */
  readonly needs?: GroupName;
  readonly ports?: readonly string[];
}

/** Outside of the ranges that distributions assign to users and services. */
export const NON_ROOT = 65_532;

const PROVIDERS = join(ROOT, "providers");

export const IMAGES: readonly ImageSource[] = [
  {
    name: "cloudwire-controller-manager",
    title: "Cloudwire controller manager",
    description: "A cloud-controller-manager that asks a provider sidecar for everything about the cloud",
    userId: NON_ROOT,
    ports: ["10258/tcp"],
  },
  ...providerImages(),
];

/** The images of the providers, as the `provider.json` in each one's directory describes them. */
function providerImages(): readonly ImageSource[] {
  return readdirSync(PROVIDERS)
    .toSorted()
    .map((name) => join(PROVIDERS, name, "provider.json"))
    .filter((path) => existsSync(path))
    .map((path) => parseImage(readFileSync(path, "utf8"), path));
}

export function parseImage(text: string, path: string): ImageSource {
  const manifest: unknown = JSON.parse(text);
  const image = property(manifest, "image");
  const [name, title, description] = [
    property(manifest, "name"),
    property(image, "title"),
    property(image, "description"),
  ];
  const [userId, needs] = [property(image, "userId"), property(image, "needs")];
  if (typeof name !== "string" || typeof title !== "string" || typeof description !== "string")
    throw new Error(`${path}: name, image.title and image.description must be texts`);
  if (typeof userId !== "number") throw new Error(`${path}: image.userId must be a number`);
  if (needs !== undefined && !isGroupName(needs))
    throw new Error(`${path}: image.needs must be one of ${Object.keys(GROUPS).join(", ")}`);
  return {
    name: `cloudwire-provider-${name}`,
    title,
    description,
    userId,
    ...(needs === undefined ? {} : { needs }),
  };
}

function isGroupName(value: unknown): value is GroupName {
  return typeof value === "string" && Object.hasOwn(GROUPS, value);
}

function property(of: unknown, key: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, key) : undefined;
}
