import type { KubeConfig } from "@kubernetes/client-node";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { CommandError, messageOf } from "../errors.ts";
import { isRecord } from "./json.ts";

/** Selects the kubeconfig and its context. */
export interface KubeconfigChoice {
  /** Of --kubeconfig. */
  readonly file: string | undefined;
  /** Of --context. */
  readonly context: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Path of the service account token in a pod. */
const IN_CLUSTER_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** The kubeconfig as kubectl would find it. Rejects with a CommandError. */
export async function loadKubeconfig({ file, context, environment }: KubeconfigChoice): Promise<KubeConfig> {
  const paths = filesOf(file, environment);
  // Loaded only here: it costs a tenth of a second.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (paths.length === 0) {
    if (environment["KUBERNETES_SERVICE_HOST"] === undefined || !existsSync(IN_CLUSTER_TOKEN))
      throw new CommandError("KUBECONFIG_INVALID", NONE);
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
  "no kubeconfig found: specify one with --kubeconfig or KUBECONFIG, or connect to a controller with --server https://HOST:PORT";

/** As in kubectl: missing files of KUBECONFIG are skipped, the file of --kubeconfig must exist. */
function filesOf(file: string | undefined, environment: KubeconfigChoice["environment"]): readonly string[] {
  if (file !== undefined) return [file];
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length > 0) {
    const existing = listed.filter((path) => existsSync(path));
    if (existing.length === 0)
      throw new CommandError("KUBECONFIG_INVALID", `no file in KUBECONFIG exists: ${listed.join(", ")}`);
    return existing;
  }
  const own = join(environment["HOME"] ?? homedir(), ".kube", "config");
  return existsSync(own) ? [own] : [];
}

async function readPart(path: string, empty: () => KubeConfig): Promise<KubeConfig> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CommandError("KUBECONFIG_INVALID", `cannot read the kubeconfig ${path}: ${messageOf(error)}`);
  });
  const part = empty();
  try {
    part.loadFromString(await withTokenFiles(text, dirname(path)));
    part.makePathsAbsolute(dirname(resolve(path)));
  } catch (error) {
    // Without the cause, which quotes the lines around the error: they may contain tokens.
    throw new CommandError(
      "KUBECONFIG_INVALID",
      `${path} is not a valid kubeconfig: ${messageOf(error).split("\n", 1)[0]?.replace(/:$/, "") ?? ""}`,
    );
  }
  return part;
}

/** client-node 2.0.1 does not support tokenFile. As in client-go, it takes precedence over token, and its path is relative to the kubeconfig. */
async function withTokenFiles(text: string, directory: string): Promise<string> {
  const content: unknown = parse(text);
  if (!isRecord(content)) throw new Error("it is empty");
  const { users } = content;
  if (!Array.isArray(users)) return JSON.stringify(content);
  const read = users.map(async (entry: unknown) => {
    const user = isRecord(entry) ? entry["user"] : undefined;
    const file = isRecord(user) ? user["tokenFile"] : undefined;
    if (!isRecord(entry) || !isRecord(user) || typeof file !== "string" || file === "") return entry;
    // The files of other users may be missing.
    const token = await readFile(resolve(directory, file), "utf8").catch(() => undefined);
    return token === undefined ? entry : { ...entry, user: { ...user, token: token.trim() } };
  });
  return JSON.stringify({ ...content, users: await Promise.all(read) });
}

function requireContext(config: KubeConfig, context: string, where: string): void {
  if (context === "")
    throw new CommandError(
      "KUBECONFIG_INVALID",
      `the kubeconfig ${where} has no current context: specify one with --context, or set one with kubectl config use-context`,
    );
  if (config.getContextObject(context) === null) {
    const known = config.getContexts().map(({ name }) => name);
    throw new CommandError(
      "KUBECONFIG_INVALID",
      `the kubeconfig ${where} has no context ${context}; its contexts: ${known.join(", ") || "none"}`,
    );
  }
  const server = config.getCurrentCluster()?.server ?? "";
  if (!/^https?:\/\//.test(server))
    throw new CommandError(
      "KUBECONFIG_INVALID",
      `the kubeconfig ${where} has no http:// or https:// server for context ${context}`,
    );
}

function isNamed(context: string | undefined): boolean {
  return context !== undefined && context !== "";
}

/** If several files have the same name, the first takes precedence. */
function firstOfEach<Named extends { readonly name: string }>(all: readonly Named[]): Named[] {
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}
