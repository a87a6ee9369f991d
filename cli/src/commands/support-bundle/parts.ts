import { open } from "node:fs/promises";
import { PATHS } from "@cloudwire/operator-api";
import type { Connection } from "../../client/connection.ts";
import { isRecord } from "../../client/json.ts";
import { endpointRuleOf } from "../../client/kube-api.ts";
import { textOf } from "../../client/send.ts";
import { messageOf } from "../../errors.ts";

/** One file of a bundle, or why it is unavailable. */
export type Part =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "unavailable"; readonly name: string; readonly message: string };

/** More than the largest response at 15,000 nodes. */
const MAX_BYTES = 256e6;

/** Maximum number of explained objects. */
const MAX_EXPLAINED = 100;

/** Endpoints of the controller, by file name. */
const PAGES: Readonly<Record<string, string>> = {
  "version.json": "/version",
  "configuration/configz.json": "/configz",
  "configuration/flagz.txt": "/flagz",
  "configuration/statusz.txt": "/statusz",
  "health/livez.txt": "/livez?verbose",
  "health/readyz.txt": "/readyz?verbose",
  "metrics/metrics.txt": "/metrics",
  "metrics/slis.txt": "/metrics/slis",
  "state/controllers.json": PATHS.controllers,
  "state/providers.json": PATHS.providers,
  "state/plans.json": PATHS.plans,
  "state/overview.json": PATHS.overview,
};

/** The endpoints of a controller. Never rejects: failed requests are listed as unavailable. */
export async function controllerParts(connection: Connection): Promise<readonly Part[]> {
  const pages: Part[] = [];
  // Sequential, to keep the load of a controller with problems low.
  for (const [name, path] of Object.entries(PAGES)) pages.push(await pagePart(connection, name, path));
  return [
    ...pages,
    ...(await healthReasons(connection, pages)),
    ...(await controllerDetails(connection, pages)),
    ...(await explanations(connection)),
  ];
}

/** The details of each failed health check. */
async function healthReasons(connection: Connection, pages: readonly Part[]): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const endpoint of ["livez", "readyz"]) {
    const page = pages.find(({ name }) => name === `health/${endpoint}.txt`);
    const text = page?.kind === "file" ? page.text : "";
    const failing = [...text.matchAll(/^\[-\](\S+)/gm)].flatMap(([, check]) => check ?? []);
    for (const check of failing) {
      const name = `health/${endpoint}-${fileName(check)}.txt`;
      parts.push(await pagePart(connection, name, `/${endpoint}/${encodeURIComponent(check)}`, isHealth));
    }
  }
  return parts;
}

async function controllerDetails(connection: Connection, pages: readonly Part[]): Promise<readonly Part[]> {
  const overview = pages.find(({ name }) => name === "state/controllers.json");
  const parts: Part[] = [];
  for (const name of namesIn(overview)) {
    parts.push(
      await pagePart(
        connection,
        `state/controllers/${fileName(name)}.json`,
        `${PATHS.controllers}/${encodeURIComponent(name)}`,
      ),
    );
  }
  return parts;
}

/** Of blocked objects. */
async function explanations(connection: Connection): Promise<readonly Part[]> {
  const list = "state/blocked.json";
  const rows = await pagePart(connection, list, `${PATHS.objects}?state=blocked&limit=${MAX_EXPLAINED}`);
  if (rows.kind === "unavailable") return [rows];
  const parts: Part[] = [rows];
  for (const object of objectsIn(rows.text)) {
    const name = `state/explain/${fileName(object)}.json`;
    parts.push(await pagePart(connection, name, `${PATHS.explain}?object=${encodeURIComponent(object)}`));
  }
  return parts;
}

async function pagePart(connection: Connection, name: string, path: string, isExpected = isOk): Promise<Part> {
  try {
    const response = await connection.get(path);
    const { statusCode = 0 } = response;
    const text = await textOf(response, MAX_BYTES, connection.timeoutMs);
    // Failed health checks respond with an error status.
    if (isExpected(statusCode) || (name.startsWith("health/") && isHealth(statusCode)))
      return { kind: "file", name, text };
    return {
      kind: "unavailable",
      name,
      message: `${path} responded with ${statusCode}${requiredRule(statusCode, path)}`,
    };
  } catch (error) {
    return { kind: "unavailable", name, message: `${path}: ${messageOf(error)}` };
  }
}

function isOk(status: number): boolean {
  return status === 200;
}

function isHealth(status: number): boolean {
  return status === 200 || status === 500 || status === 503;
}

function requiredRule(status: number, path: string): string {
  const [page = path] = path.split("?");
  return status === 403 ? `: you need ${endpointRuleOf(page)}` : "";
}

/** The names in the list of controllers. */
function namesIn(part: Part | undefined): readonly string[] {
  if (part?.kind !== "file") return [];
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(look);
    if (!isRecord(value)) return;
    if (typeof value["name"] === "string") found.add(value["name"]);
    else Object.values(value).forEach(look);
  };
  look(jsonOf(part.text));
  return [...found].toSorted();
}

function objectsIn(text: string): readonly string[] {
  const rows = jsonOf(text);
  const objects = Array.isArray(rows)
    ? rows.flatMap((row: unknown) => (isRecord(row) && typeof row["object"] === "string" ? [row["object"]] : []))
    : [];
  return objects.toSorted();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `service/shop/web` to `service_shop_web`: names in Kubernetes have no `_`, so results are unique. No result leaves its directory. */
function fileName(text: string): string {
  return text.replaceAll(/[^\w.-]+/g, "_").replace(/^\.+/, "");
}

/** Maximum size of the end of a log. */
const TAIL_BYTES = 4 * 1024 * 1024;
/** Recordings are useless without their beginning, so larger ones are omitted. */
const WHOLE_BYTES = 512 * 1024 * 1024;

/** The last lines of a file. */
export function tailPart(name: string, path: string): Promise<Part> {
  return filePart(name, path, async (file, size) => {
    const start = Math.max(0, size - TAIL_BYTES);
    const text = await read(file, start, size - start);
    // The first line may be incomplete.
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  });
}

/** All of a file. */
export function wholePart(name: string, path: string): Promise<Part> {
  return filePart(name, path, async (file, size) => {
    if (size > WHOLE_BYTES)
      throw new Error(`the file has ${size} bytes, more than the limit of a bundle; send it separately`);
    return read(file, 0, size);
  });
}

type Opened = Awaited<ReturnType<typeof open>>;

async function filePart(
  name: string,
  path: string,
  take: (file: Opened, size: number) => Promise<string>,
): Promise<Part> {
  try {
    await using file = await open(path, "r");
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("not a regular file");
    return { kind: "file", name, text: await take(file, stats.size) };
  } catch (error) {
    return { kind: "unavailable", name, message: `${path}: ${messageOf(error)}` };
  }
}

async function read(file: Opened, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position, length });
  return buffer.subarray(0, bytesRead).toString("utf8");
}
