import type { KubeConfig } from "@kubernetes/client-node";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { CommandError, messageOf } from "../errors.ts";
import { isRecord } from "./json.ts";

/** Which kubeconfig is meant. */
export interface KubeconfigChoice {
  /** Of --kubeconfig. */
  readonly file: string | undefined;
  /** Of --context. */
  readonly context: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where a pod finds its own service account. */
const IN_CLUSTER_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** The kubeconfig as kubectl would find it. Rejects with a CommandError. */
export async function loadKubeconfig({ file, context, environment }: KubeconfigChoice): Promise<KubeConfig> {
  const paths = filesOf(file, environment);
  // Loaded only here: it costs a tenth of a second.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (paths.length === 0) {
    if (environment["KUBERNETES_SERVICE_HOST"] === undefined || !existsSync(IN_CLUSTER_TOKEN))
      throw new CommandError(NONE);
    config.loadFromCluster();
    return config;
  }
  const parts = await Promise.all(paths.map((path) => readPart(path, () => new KubeConfig())));
  const currentContext = context ?? parts.map((part) => part.getCurrentContext()).find(isNamed) ?? "";
  const merged = {
    clusters: firstOfEach(parts.flatMap((part) => part.getClusters())),
    users: firstOfEach(parts.flatMap((part) => part.getUsers())),
    contexts: firstOfEach(parts.flatMap((part) => part.getContexts())),
  };
  config.loadFromOptions({ ...merged, currentContext });
  requireContext(config, currentContext, paths.join(delimiter));
  return config;
}

const NONE =
  "there is no kubeconfig: name one with --kubeconfig or in KUBECONFIG, or ask a controller directly with --server https://HOST:PORT";

/** Of a list in KUBECONFIG those that exist, as kubectl does; one that is named must exist. */
function filesOf(file: string | undefined, environment: KubeconfigChoice["environment"]): readonly string[] {
  if (file !== undefined) return [file];
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length > 0) {
    const existing = listed.filter((path) => existsSync(path));
    if (existing.length === 0) throw new CommandError(`KUBECONFIG names ${listed.join(", ")}, which is not there`);
    return existing;
  }
  const own = join(environment["HOME"] ?? homedir(), ".kube", "config");
  return existsSync(own) ? [own] : [];
}

async function readPart(path: string, empty: () => KubeConfig): Promise<KubeConfig> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CommandError(`cannot read the kubeconfig ${path}: ${messageOf(error)}`);
  });
  const part = empty();
  try {
    part.loadFromString(await withTokenFiles(text, dirname(path)));
    part.makePathsAbsolute(dirname(resolve(path)));
  } catch (error) {
    // Without the cause, which shows the lines around the mistake: there may be tokens in them.
    throw new CommandError(
      `${path} is not a valid kubeconfig: ${messageOf(error).split("\n", 1)[0]?.replace(/:$/, "") ?? ""}`,
    );
  }
  return part;
}

/** client-node 2.0.1 knows no tokenFile. As in client-go it comes before a token, and its path is relative to the kubeconfig. */
async function withTokenFiles(text: string, directory: string): Promise<string> {
  const content: unknown = parse(text);
  if (!isRecord(content)) throw new Error("it is empty");
  const { users } = content;
  if (!Array.isArray(users)) return JSON.stringify(content);
  const read = users.map(async (entry: unknown) => {
    const user = isRecord(entry) ? entry["user"] : undefined;
    const file = isRecord(user) ? user["tokenFile"] : undefined;
    if (!isRecord(entry) || !isRecord(user) || typeof file !== "string" || file === "") return entry;
    // Another user's may be missing.
    const token = await readFile(resolve(directory, file), "utf8").catch(() => undefined);
    return token === undefined ? entry : { ...entry, user: { ...user, token: token.trim() } };
  });
  return JSON.stringify({ ...content, users: await Promise.all(read) });
}

function requireContext(config: KubeConfig, context: string, where: string): void {
  if (context === "")
    throw new CommandError(
      `the kubeconfig ${where} has no current context: name one with --context, or set one with kubectl config use-context`,
    );
  if (config.getContextObject(context) === null) {
    const known = config.getContexts().map(({ name }) => name);
    throw new CommandError(`the kubeconfig ${where} has no context ${context}; it has ${known.join(", ") || "none"}`);
  }
  const server = config.getCurrentCluster()?.server ?? "";
  if (!/^https?:\/\//.test(server))
    throw new CommandError(`the kubeconfig ${where} names no server with https:// for the context ${context}`);
}

function isNamed(context: string | undefined): boolean {
  return context !== undefined && context !== "";
}

/** Names that come again are those of files further behind: the first counts. */
function firstOfEach<Named extends { readonly name: string }>(all: readonly Named[]): Named[] {
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}
